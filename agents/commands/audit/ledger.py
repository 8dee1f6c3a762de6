"""The ledger of an audit: the outcome of each origin, in one byte per offset.

    raw-html, partition 3    1040  1041  1042  1043  1044  …
    number of the outcome       2     5     1     0     2       1: missing, 0: not an origin

An offset is not an origin if it has no record, or if its record is a command or a copy of another
page (re-keyed or replayed). A million pages take one megabyte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from agents.commands.audit.gone import Gone
from models.origin import Origin


class AuditOutcome(StrEnum):
    """Outcome of a page. If a page has several, the one that is listed first here counts."""

    PAGE = "page"  # a fetched page, published to raw-html
    UNCHANGED = "unchanged"  # a page that was asked for again, with the answer 304
    CLEAN_TEXT = "clean-text"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"  # a later page with the same id replaced the page's clean text
    FORGOTTEN = "forgotten"  # a tombstone deleted the page's clean text
    DEAD_LETTER = "dead-letter"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Accounts:
    """Number of distinct origins by outcome.

    Attributes:
        origins: All origins.
        clean_text: Pages with clean text.
        duplicates: Duplicates, by the step that recognised them.
        superseded: Pages replaced by a later page with the same id.
        forgotten: Pages that `forget` deleted.
        dead_letters: Pages that became dead letters, by reason. A page whose replay succeeded
            counts only with its new outcome.
        missing: Pages without an outcome, and the offsets in `expired`.
        first_missing: The first missing pages, as topic/partition/offset or as
            topic/partition/first-last.
        expired: Offsets that retention deleted before the stage read them. Some of them may not
            have been pages.
        left: Other offsets that had left the topic before the audit; their outcome is unknown.
    """

    origins: int = 0
    clean_text: int = 0
    duplicates: dict[str, int] = field(default_factory=dict)
    superseded: int = 0
    forgotten: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    first_missing: tuple[str, ...] = ()
    expired: int = 0
    left: int = 0


_NOTHING = 0
_MISSING = 1
_RANK = {outcome: rank for rank, outcome in enumerate(AuditOutcome)}
_MAX_LABELS = 255  # numbers of outcomes that fit in a byte; there are about 20 steps and reasons
NAMED = 10  # largest number of missing pages that an audit lists


class Ledger:
    """Known outcomes of the origins of a topic.

    Args:
        topic: Name of the topic with prefix, as origins contain it.
    """

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._first: dict[int, int] = {}
        self._labels: list[tuple[AuditOutcome, str]] = [(AuditOutcome.MISSING, "")] * 2
        self._numbers: dict[tuple[AuditOutcome, str], int] = {}
        self._offsets: dict[int, bytearray] = {}

    def expect(self, partition: int, offset: int) -> None:
        """Add the page at this offset as a missing page. Add pages in the order of offsets."""
        first = self._first.setdefault(partition, offset)
        offsets = self._offsets.setdefault(partition, bytearray())
        offsets.extend(bytes(max(0, offset - first + 1 - len(offsets))))
        offsets[offset - first] = offsets[offset - first] or _MISSING

    def settle(self, origin: str, outcome: AuditOutcome, detail: str = "") -> None:
        """Set the outcome of a page; a page that was not expected is ignored.

        Args:
            origin: Origin of the page, as topic/partition/offset.
            outcome: Outcome of the page.
            detail: Step of a duplicate, or reason of a dead letter.
        """
        try:
            topic, partition, offset = Origin.parse(origin)
        except ValueError:
            return
        at = offset - self._first.get(partition, 0)
        offsets = self._offsets.get(partition, bytearray())
        if topic != self.topic or not 0 <= at < len(offsets) or offsets[at] == _NOTHING:
            return
        if _RANK[outcome] <= _RANK[self._labels[offsets[at]][0]]:
            offsets[at] = self._number(outcome, detail)

    def settle_range(
        self,
        partition: int,
        first: int,
        last: int,
        outcome: AuditOutcome,
        detail: str = "",
    ) -> None:
        """Set the outcome of all offsets from `first` to `last`, which nobody could read.

        Offsets that were not expected are added: each of them may have been a page. So pass only
        offsets that the topic contains.
        """
        start = min(self._first.setdefault(partition, first), first)
        offsets = bytearray(self._first[partition] - start) + self._offsets.get(partition, b"")
        offsets.extend(bytes(max(0, last - start + 1 - len(offsets))))
        number = self._number(outcome, detail)
        better = [
            number if _RANK[outcome] <= _RANK[of] else other
            for other, (of, _) in enumerate(self._labels)
        ]
        table = bytes(better) + bytes(256 - len(better))
        within = slice(first - start, last - start + 1)
        offsets[within] = offsets[within].translate(table)
        self._first[partition], self._offsets[partition] = start, offsets

    def missing(self) -> Iterator[Origin]:
        """Yield every origin without an outcome, partition by partition."""
        for partition, offsets in sorted(self._offsets.items()):
            at = offsets.find(_MISSING)
            while at >= 0:
                yield Origin(self.topic, partition, self._first[partition] + at)
                at = offsets.find(_MISSING, at + 1)

    def counts(self) -> dict[AuditOutcome, dict[str, int]]:
        """Return the number of origins by outcome and detail."""
        counts = [0] * len(self._labels)
        for offsets in self._offsets.values():
            for number in range(len(counts)):
                counts[number] += offsets.count(number)
        by_outcome: dict[AuditOutcome, dict[str, int]] = {outcome: {} for outcome in AuditOutcome}
        for (outcome, detail), count in sorted(zip(self._labels[1:], counts[1:], strict=True)):
            if count:
                by_outcome[outcome][detail] = count
        return by_outcome

    def accounts(self, gone: Gone | None = None) -> Accounts:
        """Return the number of pages by outcome, with the offsets that are gone from the topic."""
        gone = gone or Gone()
        by_outcome = self.counts()
        named = (*gone.named(self.topic), *map(str, islice(self.missing(), NAMED)))
        return Accounts(
            origins=sum(sum(found.values()) for found in by_outcome.values()),
            clean_text=sum(by_outcome[AuditOutcome.CLEAN_TEXT].values()),
            duplicates=by_outcome[AuditOutcome.DUPLICATE],
            superseded=sum(by_outcome[AuditOutcome.SUPERSEDED].values()),
            forgotten=sum(by_outcome[AuditOutcome.FORGOTTEN].values()),
            dead_letters=by_outcome[AuditOutcome.DEAD_LETTER],
            missing=sum(by_outcome[AuditOutcome.MISSING].values()) + gone.expired,
            first_missing=named[:NAMED],
            expired=gone.expired,
            left=gone.left,
        )

    def _number(self, outcome: AuditOutcome, detail: str) -> int:
        label = (outcome, detail)
        if label not in self._numbers:
            if len(self._labels) >= _MAX_LABELS - len(AuditOutcome):
                label = (outcome, "other")
            if label not in self._numbers:
                self._numbers[label] = len(self._labels)
                self._labels.append(label)
        return self._numbers[label]
