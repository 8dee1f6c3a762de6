"""Which feed is due when: a heap with lazy deletion beside a dict that says what holds.

    when:  {a: 30, b: 20}            heap: 20 b, 25 a, 30 a
                                               ╰ stale: `when` says 30; skipped on its way out

To move a key is to push it again; what was pushed before goes when it reaches the top, or when
stale entries are more than the others and the heap is made anew.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush

FeedKey = tuple[int, bytes]  # partition, key of the feed's row

_FEW = 64  # stale entries that are not worth a new heap


class Schedule:
    """Keys and when they are due, seconds since 1970."""

    def __init__(self) -> None:
        self._when: dict[FeedKey, float] = {}
        self._heap: list[tuple[float, FeedKey]] = []

    def __len__(self) -> int:
        return len(self._when)

    def put(self, key: FeedKey, due: float) -> None:
        """Set when a key is due; infinity means never, and takes it out."""
        if math.isinf(due):
            self.remove(key)
            return
        self._when[key] = due
        heappush(self._heap, (due, key))
        self._compact()

    def remove(self, key: FeedKey) -> None:
        """Take a key out, if it is there."""
        self._when.pop(key, None)
        self._compact()

    def pop(self, now: float) -> list[FeedKey]:
        """Take out all keys that are due, the longest due first."""
        due = []
        while (at := self.next_due()) is not None and at <= now:
            key = heappop(self._heap)[1]
            del self._when[key]
            due.append(key)
        return due

    def next_due(self) -> float | None:
        """When the next key is due, None where there is none."""
        while self._heap and not self._holds(self._heap[0]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def clear(self) -> None:
        """Take all keys out."""
        self._when.clear()
        self._heap.clear()

    def _holds(self, entry: tuple[float, FeedKey]) -> bool:
        due, key = entry
        return self._when.get(key) == due

    def _compact(self) -> None:
        if len(self._heap) > 2 * len(self._when) + _FEW:
            self._heap = [(due, key) for key, due in self._when.items()]
            heapify(self._heap)
