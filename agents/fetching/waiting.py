"""Where a page waits: in its host's queue, or in the lot.

    its turn comes within park_seconds    the host's queue; in the lot until its not-before
    later                                 the lot for park_seconds, then `fetches` again

What is in a queue is looked at again after each turn of its host: a host that has become slow, or
backs off, has more in its queue than it can serve in that time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchJob, FetchStage
from agents.telemetry.metrics import Metrics
from urltree.crawl.decisions.host.host_queues import HostQueues
from urltree.page import PageError, Reason

T = TypeVar("T")

_LEAST = 1 / 6  # of park_seconds: records of a full window do not go round faster than that
_SLACK = 1.5  # times park_seconds, before a queue is spread anew


class ParkedPages(Generic[T]):
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


class WaitingPages:
    """All pages that wait in a worker.

    Args:
        hosts: what is known of them.
        stage: where pages go that do not stay.
        metrics: counted here.
        seconds: `park_seconds`.
        seconds_each: that a page of its host takes.
        clock: seconds since 1970.

    Attributes:
        queues: of the hosts.
        is_closed: nothing waits here any more, all is sent again.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        hosts: Hosts,
        stage: FetchStage,
        metrics: Metrics,
        seconds: float,
        seconds_each: Callable[[FetchJob], float],
        clock: Callable[[], float],
    ) -> None:
        self._hosts = hosts
        self._stage = stage
        self._metrics = metrics
        self._seconds = seconds
        self._seconds_each = seconds_each
        self._clock = clock
        self._parked: ParkedPages[FetchJob] = ParkedPages(seconds)
        self.queues: HostQueues[FetchJob] = HostQueues()
        self.is_closed = False

    async def place(self, job: FetchJob) -> None:
        """Put a page where it waits.

        Raises:
            PageError: its host has not answered for hours.
        """
        if self.is_closed:
            await self._send_again(job, job.fetch.not_before)
            return
        now = self._clock()
        host, fetch = job.host, job.fetch
        state = self._hosts.get(job.partition, job.domain, host)
        if state.is_given_up(now):
            raise PageError(Reason.UNREACHABLE, f"{host} has failed for hours: {state.trouble}")
        expected = self.queues.expected(host, now, self._seconds_each(job))
        turn = max(fetch.not_before, state.next_request_at, expected)
        if turn - now > (self._seconds / 2 if job.is_parked else self._seconds):
            await self._put_off(job, turn, now)
        elif fetch.not_before > now:
            self._parked.wait(job, fetch.not_before)
        else:
            self.queues.rest(host, state.next_request_at)
            self.queues.add(host, job, now)

    def take_due(self) -> list[FetchJob]:
        """Take out of the lot what is to be placed now."""
        now = self._clock()
        stay = self._seconds * (_LEAST if self._stage.is_full() else 1.0)
        return [*self._parked.due(now), *self._parked.parked_before(now - stay)]

    def overflow(self, host: str, job: FetchJob) -> list[FetchJob]:
        """Take out of a host's queue, where it has more than it can serve in time."""
        now = self._clock()
        expected = self.queues.expected(host, now, self._seconds_each(job))
        if self.queues.waiting(host) and expected - now > _SLACK * self._seconds:
            return self.queues.withdraw(host)
        return []

    def next_at(self) -> float | None:
        """When a page is to leave the lot."""
        return self._parked.next_at()

    def clear(self) -> None:
        """Forget all of it."""
        self.queues.clear()
        self._parked.empty()

    async def _put_off(self, job: FetchJob, turn: float, now: float) -> None:
        if job.is_parked:
            self._metrics.parked.inc()
            await self._send_again(job, turn)
        else:
            job.is_parked = True
            self._parked.park(job, now)

    async def _send_again(self, job: FetchJob, not_before: float) -> None:
        await self._stage.send_again(job, replace(job.fetch, not_before=not_before), job.domain)
        job.finish()
