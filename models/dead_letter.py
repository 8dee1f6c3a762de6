"""dead-letters: the records that a stage refused. A replay sends the original records again.

    key      origin of the page
    value    value of the original record, unchanged; null if it was null
    headers  urltree-stage, urltree-reason, urltree-topic, urltree-key?, urltree-offsets?,
             urltree-message, then all headers of the original record, in their order

`urltree-message` is the last of our headers. All headers after it are those of the original record,
whatever their names are. `urltree-key` is missing if the original record has no key.

A dead letter with `urltree-offsets` stands for a range of records that nobody could read. Its
origin is that of the first of them, and it has neither a key nor a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from models.headers import names
from models.record import malformed

STAGES = ("poll", "fetch", "normalize", "extract")

MAX_MESSAGE = 1_000
"""Largest number of characters of a message; longer messages are cut."""

_OPTIONAL = (names.KEY, names.OFFSETS)
_OWN = (names.STAGE, names.REASON, names.TOPIC, *_OPTIONAL, names.MESSAGE)
_OFFSETS = re.compile(rb"([0-9]{1,19})-([0-9]{1,19})")


class Record(NamedTuple):
    """The parts of a Kafka record that a replay sends again; key and value are bytes."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record of the topic dead-letters.

    Attributes:
        origin: origin of the page; it is the key of the record.
        stage: stage that refused the record: `poll`, `fetch`, `normalize` or `extract`.
        reason: code of `urltree.page.Reason`; a string, because a later release may add codes.
        message: description of the fault for a person.
        topic: topic from which the stage read the original record.
        original: original record, unchanged.
        offsets: first and last offset of the range of records for which the dead letter stands;
            None if it stands for one record.
    """

    origin: str
    stage: str
    reason: str
    message: str
    topic: str
    original: Record
    offsets: tuple[int, int] | None = None

    def to_record(self) -> Record:
        """Return the Kafka record of this dead letter."""
        own = {
            names.STAGE: self.stage.encode(),
            names.REASON: self.reason.encode(),
            names.TOPIC: self.topic.encode(),
            names.KEY: self.original.key,
            names.OFFSETS: b"%d-%d" % self.offsets if self.offsets is not None else None,
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
        """Read a dead letter from the parts of its Kafka record.

        Raises:
            PageError: `malformed`: the record is not a dead letter.
        """
        own: dict[str, bytes] = {}
        left = iter(headers)
        for name, content in left:
            if name not in _OWN or content is None:
                raise malformed(f"not a dead letter: unexpected header {name!r}")
            own[name] = content
            if name == names.MESSAGE:
                break
        missing = [name for name in _OWN if name not in own and name not in _OPTIONAL]
        if key is None or missing:
            raise malformed(f"not a dead letter: it lacks {', '.join(missing) or 'a key'}")
        stage, reason, topic, message = (
            own[name].decode(errors="replace")
            for name in (names.STAGE, names.REASON, names.TOPIC, names.MESSAGE)
        )
        original = Record(own.get(names.KEY), value, tuple(left))
        offsets = _read_offsets(own.get(names.OFFSETS))
        return cls(key.decode(errors="replace"), stage, reason, message, topic, original, offsets)


def _read_offsets(content: bytes | None) -> tuple[int, int] | None:
    if content is None:
        return None
    match = _OFFSETS.fullmatch(content)
    if match is None:
        raise malformed(f"not a dead letter: {names.OFFSETS} should be FIRST-LAST, is {content!r}")
    return int(match[1]), int(match[2])
