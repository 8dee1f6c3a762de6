"""A queue of tokens for each host: one request to a host at a time, and a pause after each.

    news.example   ■ ■ ■     busy: a token was taken, and the next one must wait for done()
    blog.example   □ □       pauses until 12:00:05, then its next token is ready
    slow.example   □         ready: take() returns its token

A token stands for one request. take() returns the tokens of different hosts in the order in which
the hosts became ready, and the tokens of one host in the order in which they were added: first the
small requests (feeds, sitemaps, robots.txt), then the pages. So a slow host delays only its own
tokens, and a long queue of pages delays no feed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")

_FORGET = 1_024  # number of stored pauses above which expired pauses are deleted


class _Queue(Generic[T]):
    """The tokens of one host: small requests first, then pages."""

    __slots__ = ("pages", "small")

    def __init__(self) -> None:
        self.small: deque[T] = deque()
        self.pages: deque[T] = deque()

    def __len__(self) -> int:
        return len(self.small) + len(self.pages)

    def pop(self) -> T:
        return (self.small or self.pages).popleft()


class HostQueues(Generic[T]):
    """Tokens that wait for their hosts. Times are seconds since 1970."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue[T]] = {}
        self._busy: set[str] = set()
        self._pauses: dict[str, float] = {}  # host → end of its pause
        # (time, number, host); an entry is valid only while `_entries` has its number
        self._heap: list[tuple[float, int, str]] = []
        self._entries: dict[str, int] = {}
        self._numbers = count()
        self._forget_at = _FORGET

    def __len__(self) -> int:
        """Return the number of waiting tokens."""
        return sum(map(len, self._queues.values()))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the hosts for which tokens wait."""
        return iter(self._queues)

    def waiting(self, host: str) -> int:
        """Return the number of tokens that wait for a host."""
        return len(self._queues.get(host, ()))

    def is_busy(self, host: str) -> bool:
        """Return whether a token of this host was taken and `done` was not called since."""
        return host in self._busy

    def add(self, host: str, token: T, now: float, *, is_small: bool = False) -> None:
        """Add a token at the end of its host's queue, or after its host's other small requests."""
        queue = self._queues.setdefault(host, _Queue())
        (queue.small if is_small else queue.pages).append(token)
        if len(queue) == 1:
            self._schedule(host, now)

    def put_back(self, host: str, token: T) -> None:
        """Put a taken token back at the front of its host's queue. The host stays busy."""
        self._queues.setdefault(host, _Queue()).small.appendleft(token)

    def take(self, now: float, at_most: int | None = None) -> list[tuple[str, T]]:
        """Take one token of each host that is ready. These hosts are busy until `done`.

        Args:
            now: current time.
            at_most: maximum number of tokens; None for no maximum.
        """
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
        """Free a host after its token was processed.

        Args:
            host: host of the token.
            next_at: earliest time at which the next token of the host is ready.
        """
        self._busy.discard(host)
        self._pauses[host] = max(next_at, self._pauses.get(host, next_at))
        if host in self._queues:
            self._schedule(host, next_at)

    def pause_until(self, host: str, until: float) -> None:
        """Extend the pause of a host until a time; a time before the pause's end has no effect."""
        if until > self._pauses.get(host, 0.0):
            self._pauses[host] = until
            if host in self._queues:
                self._schedule(host, until)

    def resume(self, host: str, at: float) -> None:
        """End the pause of a host at a time that may be earlier than the pause's end."""
        self._pauses[host] = at
        if host in self._queues:
            self._schedule(host, at)

    def next_at(self) -> float | None:
        """Return the first time at which `take` returns a token, None if no token will be ready.

        No token will be ready if no token waits, or if all tokens wait for busy hosts.
        """
        while self._heap:
            at, number, host = self._heap[0]
            if self._entries.get(host) == number:
                return at
            heappop(self._heap)
        return None

    def overdue(self, now: float) -> int:
        """Return the number of hosts of which a token is ready."""
        return sum(
            at <= now and self._entries.get(host) == number for at, number, host in self._heap
        )

    def expected(self, host: str, now: float, pause: float) -> float:
        """Estimate the time at which a token that is added now would be ready.

        Args:
            host: host of the token.
            now: current time.
            pause: seconds for each token of the host that comes before this token.
        """
        ahead = self.waiting(host) + (host in self._busy)
        return max(now, self._pauses.get(host, now)) + ahead * pause

    def withdraw(self, host: str) -> list[T]:
        """Remove and return all tokens that wait for a host, in the order of its queue."""
        self._entries.pop(host, None)
        queue = self._queues.pop(host, None)
        return [] if queue is None else [*queue.small, *queue.pages]

    def restart(self, at: float) -> list[T]:
        """Remove and return all waiting tokens, and end all pauses at a time.

        Hosts whose tokens were taken stay busy. The caller adds the tokens again: the clock was set
        back, so that the end of each pause may be far in the future.
        """
        tokens = [token for host in list(self._queues) for token in self.withdraw(host)]
        self._pauses = dict.fromkeys(self._pauses, at)
        return tokens

    def clear(self) -> None:
        """Remove all tokens and pauses. Do not call `done` for tokens that were taken before."""
        self._queues.clear()
        self._busy.clear()
        self._pauses.clear()
        self._heap.clear()
        self._entries.clear()

    def _pop(self, host: str) -> T:
        queue = self._queues[host]
        token = queue.pop()
        if not queue:
            del self._queues[host]
        return token

    def _schedule(self, host: str, at: float) -> None:
        if host in self._busy:
            return
        number = self._entries[host] = next(self._numbers)
        heappush(self._heap, (max(at, self._pauses.get(host, at)), number, host))

    def _forget(self, now: float) -> None:
        """Delete expired pauses, each time the number of pauses has doubled."""
        if len(self._pauses) > self._forget_at:
            self._pauses = {host: until for host, until in self._pauses.items() if until > now}
            self._forget_at = max(_FORGET, 2 * len(self._pauses))
