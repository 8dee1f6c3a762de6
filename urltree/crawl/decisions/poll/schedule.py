"""The time at which each feed is due: a heap with lazy deletion and a dict of the valid times.

    when:  {a: 30, b: 20}            heap: 20 b, 25 a, 30 a
                                               ╰ stale, because `when` has 30 for a

If a key gets a new time, a second entry is pushed, and the first entry becomes stale. A stale entry
is dropped when it reaches the top of the heap. When most entries are stale, the heap is rebuilt.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush

FeedKey = tuple[int, bytes]  # the partition, and the key of the feed's row

_FEW = 64  # with up to this number of stale entries, the heap is not rebuilt


class Schedule:
    """The keys of feeds, and the times at which they are due, in seconds since 1970."""

    def __init__(self) -> None:
        self._when: dict[FeedKey, float] = {}
        self._heap: list[tuple[float, FeedKey]] = []

    def __len__(self) -> int:
        return len(self._when)

    def put(self, key: FeedKey, due: float) -> None:
        """Set the time at which a key is due; infinity removes the key."""
        if math.isinf(due):
            self.remove(key)
            return
        self._when[key] = due
        heappush(self._heap, (due, key))
        self._compact()

    def remove(self, key: FeedKey) -> None:
        """Remove a key if the schedule contains it."""
        self._when.pop(key, None)
        self._compact()

    def pop(self, now: float) -> list[FeedKey]:
        """Remove and return all keys that are due, in the order of their times."""
        due = []
        while (at := self.next_due()) is not None and at <= now:
            key = heappop(self._heap)[1]
            del self._when[key]
            due.append(key)
        return due

    def next_due(self) -> float | None:
        """Return the time at which the next key is due, None if there are no keys."""
        while self._heap and not self._holds(self._heap[0]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def clear(self) -> None:
        """Remove all keys."""
        self._when.clear()
        self._heap.clear()

    def _holds(self, entry: tuple[float, FeedKey]) -> bool:
        due, key = entry
        return self._when.get(key) == due

    def _compact(self) -> None:
        if len(self._heap) > 2 * len(self._when) + _FEW:
            self._heap = [(due, key) for key, due in self._when.items()]
            heapify(self._heap)
