"""Whose turn it is: a queue for each host, one request to a host at a time, a pause after each.

    news.example   ■ ■ ■     busy: its first token is out, nothing more before done()
    blog.example   □ □       rests until 12:00:05, then its turn
    slow.example   □         its turn: take() gives it

Hosts take turns in the order in which their turns come, tokens of one host in the order in which
they were added. What is slow holds up itself alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")

_FORGET = 1_024  # hosts that rest, beyond which those that have rested are forgotten


class HostQueues(Generic[T]):
    """Tokens waiting for their host's turn. Times are seconds since 1970."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[T]] = {}
        self._busy: set[str] = set()
        self._rests: dict[str, float] = {}  # host → no token of it before
        # (turn, number, host); it counts only where `_entries` has its number
        self._heap: list[tuple[float, int, str]] = []
        self._entries: dict[str, int] = {}
        self._numbers = count()
        self._forget_at = _FORGET

    def __len__(self) -> int:
        """Tokens that wait."""
        return sum(map(len, self._queues.values()))

    def __iter__(self) -> Iterator[str]:
        """Hosts for which tokens wait."""
        return iter(self._queues)

    def waiting(self, host: str) -> int:
        """Tokens that wait for a host."""
        return len(self._queues.get(host, ()))

    def is_busy(self, host: str) -> bool:
        """Whether a token of this host is out."""
        return host in self._busy

    def add(self, host: str, token: T, now: float) -> None:
        """Put a token at the end of its host's queue."""
        queue = self._queues.setdefault(host, deque())
        queue.append(token)
        if len(queue) == 1:
            self._schedule(host, now)

    def put_back(self, host: str, token: T) -> None:
        """Put a token that was taken before all others of its host, which is still busy."""
        self._queues.setdefault(host, deque()).appendleft(token)

    def take(self, now: float, at_most: int | None = None) -> list[tuple[str, T]]:
        """One token of each host whose turn has come; such a host is busy until `done`."""
        taken: list[tuple[str, T]] = []
        while at_most is None or len(taken) < at_most:
            at = self.next_at()
            if at is None or at > now:
                break
            host = heappop(self._heap)[2]
            del self._entries[host]
            taken.append((host, self._pop(host)))
            self._busy.add(host)
        self._forget(now)
        return taken

    def done(self, host: str, next_at: float) -> None:
        """The token of this host is dealt with; the next has its turn then, or later."""
        self._busy.discard(host)
        self._rests[host] = max(next_at, self._rests.get(host, next_at))
        if host in self._queues:
            self._schedule(host, next_at)

    def rest(self, host: str, until: float) -> None:
        """Let no token of this host out before that time; an earlier one changes nothing."""
        if until > self._rests.get(host, 0.0):
            self._rests[host] = until
            if host in self._queues:
                self._schedule(host, until)

    def next_at(self) -> float | None:
        """When `take` gives something; None where all hosts are busy or nothing waits."""
        while self._heap:
            at, number, host = self._heap[0]
            if self._entries.get(host) == number:
                return at
            heappop(self._heap)
        return None

    def overdue(self, now: float) -> int:
        """Hosts whose turn has come and that nobody has taken."""
        return sum(
            at <= now and self._entries.get(host) == number for at, number, host in self._heap
        )

    def expected(self, host: str, now: float, pause: float) -> float:
        """When a token that is added now would have its turn, at so many seconds a token."""
        ahead = self.waiting(host) + (host in self._busy)
        return max(now, self._rests.get(host, now)) + ahead * pause

    def withdraw(self, host: str) -> list[T]:
        """Take out all that waits for a host, in its order."""
        self._entries.pop(host, None)
        return list(self._queues.pop(host, ()))

    def clear(self) -> None:
        """Forget everything; nobody may call `done` for what was out."""
        self._queues.clear()
        self._busy.clear()
        self._rests.clear()
        self._heap.clear()
        self._entries.clear()

    def _pop(self, host: str) -> T:
        queue = self._queues[host]
        token = queue.popleft()
        if not queue:
            del self._queues[host]
        return token

    def _schedule(self, host: str, at: float) -> None:
        if host in self._busy:
            return
        number = self._entries[host] = next(self._numbers)
        heappush(self._heap, (max(at, self._rests.get(host, at)), number, host))

    def _forget(self, now: float) -> None:
        """Drop rests that are over, whenever they have doubled: what is left is in use."""
        if len(self._rests) > self._forget_at:
            self._rests = {host: until for host, until in self._rests.items() if until > now}
            self._forget_at = max(_FORGET, 2 * len(self._rests))
