"""Offsets that are no longer in the audited topic.

    offset    0 ──────────── 40 ─────── 60 ──────────── first offset in the topic
              left           expired    left

Retention deletes old records, so a log that begins after 0 is normally no loss. Only ranges that a
stage has recorded as `expired` were deleted before they were read. They are counted as missing, as
an upper bound: some of their offsets may have been copies, commands or markers of transactions.
"""

from __future__ import annotations

from collections.abc import Iterator


class Gone:
    """Offsets before the first one that each partition of the topic still contains."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[int, int]] = {}
        self._ranges: dict[int, set[tuple[int, int]]] = {}

    def begin(self, partition: int, first: int, end: int) -> None:
        """Note that the audited offsets from `first` to `end - 1` are not in the topic."""
        self._before.setdefault(partition, (first, end))

    def expire(self, partition: int, first: int, last: int) -> None:
        """Note that the stage has not read the offsets from `first` to `last`."""
        self._ranges.setdefault(partition, set()).add((first, last))

    @property
    def expired(self) -> int:
        """Number of offsets that no longer are in the topic, and that the stage has not read."""
        return sum(last - first + 1 for _, first, last in self._expired())

    @property
    def left(self) -> int:
        """Number of all other offsets that no longer are in the topic."""
        return sum(max(0, end - first) for first, end in self._before.values()) - self.expired

    def named(self, topic: str) -> tuple[str, ...]:
        """Return the ranges that the stage has not read, as topic/partition/first-last."""
        return tuple(f"{topic}/{at}/{first}-{last}" for at, first, last in self._expired())

    def _expired(self) -> Iterator[tuple[int, int, int]]:
        """Yield the ranges without overlaps, within the offsets that are gone."""
        for partition, ranges in sorted(self._ranges.items()):
            begin, end = self._before.get(partition, (0, 0))
            for first, last in sorted(ranges):
                begin = max(begin, first)
                if begin <= min(last, end - 1):
                    yield partition, begin, min(last, end - 1)
                    begin = min(last, end - 1) + 1
