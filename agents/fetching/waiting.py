"""The places where pages wait: the queue of their host, or the parked pages.

    ready within park_seconds    in the host's queue, or parked until the page's own `not_before`
    ready later                  parked for park_seconds, then placed again or sent to `fetches`

After each request the queue of its host is checked again: if the host has become slow or backs off,
the queue may contain more pages than the host can serve within park_seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchStage, HostJob, PageJob
from agents.telemetry.metrics import Metrics
from urltree.crawl.decisions.host.host_queues import HostQueues
from urltree.crawl.decisions.host.host_state import BRIEF, HostState
from urltree.crawl.decisions.timing import DAY, bounded
from urltree.page import PageError, Reason

T = TypeVar("T")

_LEAST = 1 / 6  # share of park_seconds for which far pages stay even if the worker is full
_LONGEST = 7 * DAY  # longest wait of a page for its own sake; Retry-After counts that far
_SLACK = 1.5  # multiple of park_seconds; the pages of a queue with a longer wait are placed again


class ParkedPages(Generic[T]):
    """Pages that wait outside the queue of their host, so that they do not delay other pages.

        soon   ready within `park_seconds`: these pages stay until they are ready
        far    ready later: these pages stay for `park_seconds`, in the order of their arrival

    If the worker is full, far pages may be taken out earlier. Times are seconds since 1970.

    Args:
        seconds: seconds for which a far page stays.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._soon: list[tuple[float, int, T]] = []
        self._far: deque[tuple[float, T]] = deque()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._soon) + len(self._far)

    def wait(self, page: T, until: float) -> None:
        """Park a page that will be ready soon."""
        heappush(self._soon, (until, next(self._numbers), page))

    def park(self, page: T, now: float) -> None:
        """Park a page that will be ready much later."""
        self._far.append((now, page))

    def due(self, now: float) -> Iterator[T]:
        """Remove and yield the soon pages that are ready."""
        while self._soon and self._soon[0][0] <= now:
            yield heappop(self._soon)[2]

    def parked_before(self, time: float) -> Iterator[T]:
        """Remove and yield the far pages that were parked before a time, in that order."""
        while self._far and self._far[0][0] <= time:
            yield self._far.popleft()[1]

    def next_at(self) -> float | None:
        """Return the time at which the next page must be taken out; None if there is no page."""
        times = [self._soon[0][0]] if self._soon else []
        if self._far:
            times.append(self._far[0][0] + self._seconds)
        return min(times, default=None)

    def empty(self) -> list[T]:
        """Remove and return all pages."""
        pages = [page for _, _, page in self._soon] + [page for _, page in self._far]
        self._soon.clear()
        self._far.clear()
        return pages


class WaitingPages:
    """All pages that wait in a worker.

    Args:
        hosts: states of the hosts.
        stage: actions of the stage for pages that are sent away.
        metrics: metrics of the worker.
        seconds: setting `park_seconds`.
        seconds_each: returns the seconds that each page of a job's host takes.
        clock: returns seconds since 1970.

    Attributes:
        queues: queues of the hosts.
        is_closed: whether the worker stops, so that new pages are sent to `fetches` again.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        hosts: Hosts,
        stage: FetchStage,
        metrics: Metrics,
        seconds: float,
        seconds_each: Callable[[HostJob], float],
        clock: Callable[[], float],
    ) -> None:
        self._hosts = hosts
        self._stage = stage
        self._metrics = metrics
        self._seconds = seconds
        self._seconds_each = seconds_each
        self._clock = clock
        self._parked: ParkedPages[PageJob] = ParkedPages(seconds)
        self.queues: HostQueues[HostJob] = HostQueues()
        self.is_closed = False

    async def place(self, job: PageJob) -> None:
        """Put a page into the queue of its host, park it, or send it to `fetches` again.

        Raises:
            PageError: the page's host has failed for hours.
        """
        if self.is_closed:
            await self._send_again(job, job.fetch.not_before)
            return
        now = self._clock()
        host, fetch = job.host, job.fetch
        state = self._hosts.get(job.partition, job.domain, host)
        if state.is_given_up(now, job.scheme):
            raise PageError(
                Reason.HTTP_STATUS if state.is_refusing else Reason.UNREACHABLE,
                f"host {host} has failed for hours, the last time with: {state.trouble}",
            )
        expected = self.queues.expected(host, now, self._seconds_each(job))
        not_before = bounded(fetch.not_before, now, _LONGEST) or 0.0
        own = max(not_before, self._rests_until(state, job.scheme))
        ready_at = max(own, state.next_request_at, expected)
        if ready_at - now > (self._seconds / 2 if job.is_parked else self._seconds):
            await self._put_off(job, ready_at, now)
        elif own > now:
            self._parked.wait(job, own)
        else:
            self.queues.pause_until(host, state.next_request_at)
            self.queues.add(host, job, now)

    @staticmethod
    def _rests_until(state: HostState, scheme: str) -> float:
        """Return the time until which pages of a scheme rest, but not feeds, or not all schemes."""
        ready_at = state.page_ready_at(scheme)
        return ready_at if ready_at > state.next_request_at else 0.0

    def take_due(self) -> list[PageJob]:
        """Remove and return the parked pages that must be placed again now."""
        now = self._clock()
        stay = self._seconds * (_LEAST if self._stage.is_full() else 1.0)
        return [*self._parked.due(now), *self._parked.parked_before(now - stay)]

    def overflow(self, host: str, job: HostJob) -> list[HostJob]:
        """Remove and return all pages of a host's queue if the host cannot serve them in time."""
        now = self._clock()
        expected = self.queues.expected(host, now, self._seconds_each(job))
        if self.queues.waiting(host) and expected - now > _SLACK * self._seconds:
            return self.queues.withdraw(host)
        return []

    def next_at(self) -> float | None:
        """Return the time at which the next parked page must be taken out, or None."""
        return self._parked.next_at()

    def restart(self) -> list[HostJob]:
        """Remove and return all jobs, because the clock was set back. The caller places them again.

        A pause that is not stored ends within seconds (`Hosts`).
        """
        return [*self.queues.restart(self._clock() + BRIEF), *self._parked.empty()]

    def clear(self) -> None:
        """Remove all pages."""
        self.queues.clear()
        self._parked.empty()

    async def _put_off(self, job: PageJob, ready_at: float, now: float) -> None:
        if job.is_parked:
            self._metrics.parked.inc()
            await self._send_again(job, ready_at)
        else:
            job.is_parked = True
            self._parked.park(job, now)

    async def _send_again(self, job: PageJob, not_before: float) -> None:
        await self._stage.send_again(job, job.again(not_before=not_before), job.domain)
        job.finish()
