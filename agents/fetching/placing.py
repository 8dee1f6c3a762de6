"""Where a page waits: in its host's queue, or in the lot.

    its turn comes within park_seconds    the host's queue; in the lot until its not-before
    later                                 the lot for park_seconds, then `fetches` again

What is in a queue is looked at again after each turn of its host: a host that has become slow, or
backs off, has more in its queue than it can serve in that time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import Job, Outlet
from agents.fetching.lot import Lot
from agents.telemetry.metrics import Metrics
from urltree.crawl.decisions.host.host_queues import HostQueues
from urltree.page import PageError, Reason

_LEAST = 1 / 6  # of park_seconds: records of a full window do not go round faster than that
_SLACK = 1.5  # times park_seconds, before a queue is spread anew


class Places:
    """All pages that wait in a worker.

    Args:
        hosts: what is known of them.
        outlet: where pages go that do not stay.
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
        outlet: Outlet,
        metrics: Metrics,
        seconds: float,
        seconds_each: Callable[[Job], float],
        clock: Callable[[], float],
    ) -> None:
        self._hosts = hosts
        self._outlet = outlet
        self._metrics = metrics
        self._seconds = seconds
        self._seconds_each = seconds_each
        self._clock = clock
        self._lot: Lot[Job] = Lot(seconds)
        self.queues: HostQueues[Job] = HostQueues()
        self.is_closed = False

    async def place(self, job: Job) -> None:
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
        turn = max(fetch.not_before, state.turn, expected)
        if turn - now > (self._seconds / 2 if job.is_parked else self._seconds):
            await self._put_off(job, turn, now)
        elif fetch.not_before > now:
            self._lot.wait(job, fetch.not_before)
        else:
            self.queues.rest(host, state.turn)
            self.queues.add(host, job, now)

    def leave_lot(self) -> list[Job]:
        """Take out of the lot what is to be placed now."""
        now = self._clock()
        stay = self._seconds * (_LEAST if self._outlet.is_full() else 1.0)
        return [*self._lot.due(now), *self._lot.parked_before(now - stay)]

    def overflow(self, host: str, job: Job) -> list[Job]:
        """Take out of a host's queue, where it has more than it can serve in time."""
        now = self._clock()
        expected = self.queues.expected(host, now, self._seconds_each(job))
        if self.queues.waiting(host) and expected - now > _SLACK * self._seconds:
            return self.queues.withdraw(host)
        return []

    def next_at(self) -> float | None:
        """When a page is to leave the lot."""
        return self._lot.next_at()

    def clear(self) -> None:
        """Forget all of it."""
        self.queues.clear()
        self._lot.empty()

    async def _put_off(self, job: Job, turn: float, now: float) -> None:
        if job.is_parked:
            self._metrics.parked.inc()
            await self._send_again(job, turn)
        else:
            job.is_parked = True
            self._lot.park(job, now)

    async def _send_again(self, job: Job, not_before: float) -> None:
        await self._outlet.send_again(job, replace(job.fetch, not_before=not_before), job.domain)
        job.finish()
