"""dead-letters: a record whose page is at fault, kept so that a replay restores it exactly.

    key      origin
    value    the original bytes, null where they were null
    headers  urltree-stage, urltree-reason, urltree-topic, urltree-key?, urltree-message,
             then every header of the original, in its order

`urltree-message` ends our headers: what follows is the original's, whatever its names are. An
original without key has no `urltree-key`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from models import headers as names
from models.record import malformed

MAX_MESSAGE = 1_000  # characters: a message is read by a person

_OWN = (names.STAGE, names.REASON, names.TOPIC, names.KEY, names.MESSAGE)


class Record(NamedTuple):
    """What Kafka stores of a record, as bytes."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record of the topic dead-letters.

    Attributes:
        origin: of the first copy of the page; the record's key.
        stage: the worker that refused it: `poll`, `fetch`, `normalize` or `extract`.
        reason: a code of `urltree.page.Reason`; a text, for a later release may know others.
        message: what is wrong, for a person.
        topic: where the stage had read the original.
        original: the record as it was read.
    """

    origin: str
    stage: str
    reason: str
    message: str
    topic: str
    original: Record

    def to_record(self) -> Record:
        """What is published."""
        own = {
            names.STAGE: self.stage.encode(),
            names.REASON: self.reason.encode(),
            names.TOPIC: self.topic.encode(),
            names.KEY: self.original.key,
            names.MESSAGE: self.message[:MAX_MESSAGE].encode(errors="replace"),
        }
        ours = [(name, value) for name, value in own.items() if value is not None]
        return Record(self.origin.encode(), self.original.value, (*ours, *self.original.headers))

    @classmethod
    def from_record(
        cls,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]],
    ) -> DeadLetter:
        """Read what was published.

        Raises:
            PageError: `malformed`: it is no record of this topic.
        """
        own: dict[str, bytes] = {}
        left = iter(headers)
        for name, content in left:
            if name not in _OWN or content is None:
                raise malformed(f"no dead letter: header {name!r}")
            own[name] = content
            if name == names.MESSAGE:
                break
        missing = [name for name in _OWN if name != names.KEY and name not in own]
        if key is None or missing:
            raise malformed(f"no dead letter: without {', '.join(missing) or 'key'}")
        stage, reason, topic, message = (
            own[name].decode(errors="replace")
            for name in (names.STAGE, names.REASON, names.TOPIC, names.MESSAGE)
        )
        original = Record(own.get(names.KEY), value, tuple(left))
        return cls(key.decode(errors="replace"), stage, reason, message, topic, original)
