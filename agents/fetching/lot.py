"""Where pages wait whose turn is not now, so that they hold up nobody.

    soon   their time comes within `park_seconds`: they stay until then
    far    first come, first served, for `park_seconds`; then they are sent to the end of the topic

Whoever needs the room may have the far ones earlier.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")


class Lot(Generic[T]):
    """Pages that wait. Times are seconds since 1970.

    Args:
        seconds: that a far one stays.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._soon: list[tuple[float, int, T]] = []
        self._far: deque[tuple[float, T]] = deque()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._soon) + len(self._far)

    def wait(self, page: T, until: float) -> None:
        """Keep one whose time is near."""
        heappush(self._soon, (until, next(self._numbers), page))

    def park(self, page: T, now: float) -> None:
        """Keep one whose time is far off."""
        self._far.append((now, page))

    def due(self, now: float) -> Iterator[T]:
        """Take out those whose time has come."""
        while self._soon and self._soon[0][0] <= now:
            yield heappop(self._soon)[2]

    def parked_before(self, time: float) -> Iterator[T]:
        """Take out the far ones that came before a time, the first one first."""
        while self._far and self._far[0][0] <= time:
            yield self._far.popleft()[1]

    def next_at(self) -> float | None:
        """When the next one is to leave."""
        times = [self._soon[0][0]] if self._soon else []
        if self._far:
            times.append(self._far[0][0] + self._seconds)
        return min(times, default=None)

    def empty(self) -> list[T]:
        """Take out all."""
        pages = [page for _, _, page in self._soon] + [page for _, page in self._far]
        self._soon.clear()
        self._far.clear()
        return pages
