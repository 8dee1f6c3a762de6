"""How far each partition is done, so that this offset can be committed.

    offset      40   41   42   43   44   45
                ■    ■    a    a    m         ■ record   a aborted   m marker of a transaction
    delivered        last = 41
    reader                               position = 45

A partition is done up to the last confirmed record. A reader gets no records for the offsets of
markers, of aborted transactions, and of records that compaction removed. If only such offsets
follow, the partition is done up to the position of the reader. Otherwise its lag would never be 0.

The position of aiokafka's reader is ahead of what the stage has received. So a position counts only
after all records of its fetch were delivered, and only while the last delivered record is
confirmed. As records are confirmed in order, no record before the position is then in a buffer or
in flight.
"""

from __future__ import annotations

from collections.abc import Mapping

from faust.types import TP


class Progress:
    """The last record delivered, the position of the reader, and the confirmed offset.

    Attributes:
        confirmed: By partition, the offset after the last confirmed record.
    """

    def __init__(self) -> None:
        self.confirmed: dict[TP, int] = {}
        self._delivered: dict[TP, int] = {}
        # By partition, the last record delivered before the reader reached this position.
        self._passed: dict[TP, tuple[int | None, int]] = {}

    def restart(self) -> None:
        """Forget what was delivered, because it will be read again; confirmed offsets remain."""
        self._delivered.clear()
        self._passed.clear()

    def drop(self, tp: TP) -> None:
        """Forget a partition."""
        self.confirmed.pop(tp, None)
        self._delivered.pop(tp, None)
        self._passed.pop(tp, None)

    def deliver(self, tp: TP, offset: int) -> None:
        """Note that the stage gets this record, or the last record of a range that is lost."""
        self._delivered[tp] = offset

    def confirm(self, tp: TP, offset: int) -> None:
        """Note that this record, and all delivered records before it, are done."""
        self.confirmed[tp] = offset + 1

    def move(self, positions: Mapping[TP, int]) -> None:
        """Note positions of the reader; all records before them have been delivered."""
        for tp, position in positions.items():
            self._passed[tp] = self._delivered.get(tp), position

    def partitions(self) -> set[TP]:
        """Return the partitions for which an offset may be known."""
        return self.confirmed.keys() | self._passed.keys()

    def done(self, tp: TP) -> int | None:
        """Return the offset up to which a partition is done, or None if nothing is done."""
        confirmed = self.confirmed.get(tp)
        if tp not in self._passed:
            return confirmed
        last, position = self._passed[tp]
        if last is None or (confirmed is not None and confirmed > last):
            return max(position, confirmed or 0)
        return confirmed
