"""Fetches pages, each host at its own pace.

    record ──▶ place ──▶ its host's queue ──▶ its turn: visiting.py ──▶ published
                 │             ▲    │                    ├──▶ redirected: placed again, or sent on
                 │ far off     │    │ slower than        ├──▶ come again: sent to `fetches` again
                 └───▶ lot ────┘◀───┘ expected           └──▶ dead letter
                        └──▶ sent to `fetches` again, to wait there

A record stays in work for a minute or two at most, so that what is committed keeps up. Whoever
wants to stop sends the rest again and has committed everything; who crashes fetches it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from time import time

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import Job, Outlet
from agents.fetching.placing import Places
from agents.fetching.visiting import NotOursError, Visiting
from agents.settings.job import Settings
from agents.stage import OURS
from agents.telemetry.logs import log
from agents.telemetry.metrics import Metrics
from urltree.crawl.decisions.host.host import retry_at
from urltree.crawl.decisions.host.landing import ComeAgainError
from urltree.crawl.web.client import Client
from urltree.page import Page, PageError, Reason

_TICK = 1.0  # seconds; what else changes wakes the loop
_DRAIN = 3.0  # seconds that requests have to end in before they are cancelled


class Fetching:
    """The pages of a worker.

    Args:
        settings: of the job.
        hosts: what is known of them.
        outlet: where pages go.
        metrics: counted here.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        settings: Settings,
        hosts: Hosts,
        outlet: Outlet,
        metrics: Metrics,
        clock: Callable[[], float] = time,
    ) -> None:
        self._settings = settings
        self._hosts = hosts
        self._outlet = outlet
        self._metrics = metrics
        self._clock = clock
        self._client = Client(settings.client)
        self._visiting = Visiting(settings, self._client, hosts, outlet, metrics, clock)
        self._places = Places(
            hosts, outlet, metrics, settings.park_seconds, self._visiting.seconds_each, clock
        )
        self._jobs: set[Job] = set()
        self._turns: dict[asyncio.Task[None], Job] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        queues = self._places.queues
        metrics.gauge("hosts", "Hosts for which pages wait.", lambda: sum(1 for _ in queues))
        late = "Hosts whose turn has come and that nobody asks yet."
        metrics.gauge("hosts_overdue", late, lambda: queues.overdue(clock()))
        metrics.gauge("queued", "Pages in this worker's memory.", lambda: len(self._jobs))

    async def start(self) -> None:
        """Begin, unless that has been done."""
        if self._loop is None:
            await self._client.__aenter__()
            self._loop = asyncio.create_task(self._run())
            self._loop.add_done_callback(self._end_if_failed)

    async def stop(self) -> None:
        """Ask nobody any more."""
        self.clear()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            await self._client.__aexit__(None, None, None)
            self._loop = None

    async def add(self, job: Job) -> None:
        """Take a page; its future is done when nothing more becomes of it here.

        Raises:
            PageError: its host has not answered for hours.
        """
        self._jobs.add(job)
        job.future.add_done_callback(lambda _: self._jobs.discard(job))
        try:
            await self._hosts.sweep(job.partition, job.domain, self._clock(), job.work)
            await self._places.place(job)
        except BaseException:
            job.finish()
            raise
        self._wake.set()

    async def drain(self) -> None:
        """Let requests end that do so soon, and send all other pages again."""
        self._places.is_closed = True
        if self._turns:
            await asyncio.wait(self._turns, timeout=_DRAIN)
        self._cancel()
        for job in list(self._jobs):
            await self._outlet.send_again(job, job.fetch, job.domain)
            job.finish()
        self._places.clear()

    def clear(self) -> None:
        """Drop everything: it is another's, and nothing more becomes of it here."""
        self._cancel()
        self._jobs.clear()
        self._places.clear()
        self._places.is_closed = False
        self._hosts.clear()

    def _cancel(self) -> None:
        for task in self._turns:
            task.cancel()
        self._turns.clear()

    async def _run(self) -> None:
        while True:
            self._start_turns()
            for job in self._places.leave_lot():
                await self._place(job)
            try:
                async with asyncio.timeout(self._pause()):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()

    def _pause(self) -> float:
        room = self._settings.fetches_at_once - len(self._turns)
        free = room > 0 and not self._places.is_closed
        times = [self._places.next_at(), self._places.queues.next_at() if free else None]
        first = min((at for at in times if at is not None), default=None)
        return _TICK if first is None else min(max(0.0, first - self._clock()), _TICK)

    def _start_turns(self) -> None:
        room = self._settings.fetches_at_once - len(self._turns)
        if self._places.is_closed or room <= 0:
            return
        for host, job in self._places.queues.take(self._clock(), at_most=room):
            task = asyncio.create_task(self._turn(host, job))
            self._turns[task] = job
            task.add_done_callback(self._on_turn_end)

    def _on_turn_end(self, task: asyncio.Task[None]) -> None:
        self._turns.pop(task, None)
        self._end_if_failed(task)
        self._wake.set()

    def _end_if_failed(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._outlet.fail(error)

    async def _turn(self, host: str, job: Job) -> None:
        """One turn of a host; where it is cancelled, its host is another's, and is not freed."""
        try:
            await self._visit(host, job)
        except NotOursError:
            return
        except PageError as error:
            await self._refuse(job, error)
        self._outlet.moved()
        state = self._hosts.get(job.partition, job.domain, host)
        self._places.queues.done(host, state.turn)
        for waiting in self._places.overflow(host, job):
            await self._place(waiting)

    async def _visit(self, host: str, job: Job) -> None:
        try:
            came = await self._visiting.visit(job)
            if came is None:
                self._places.queues.put_back(host, job)
            elif isinstance(came, str):
                await self._redirect(job, came)
            else:
                await self._publish(job, came)
        except ComeAgainError as error:
            await self._again(host, job, error)
        except (PageError, NotOursError, *OURS):
            raise
        except Exception as error:
            job.errors += 1
            log.error("unexpected", origin=job.origin, tries=job.errors, exc_info=error)
            if job.errors > 1:
                raise PageError(Reason.INTERNAL, repr(error)) from error
            self._metrics.retries.inc()
            self._places.queues.put_back(host, job)

    async def _publish(self, job: Job, page: Page) -> None:
        await self._outlet.publish(job, page)
        self._metrics.pages.inc()
        job.finish()

    async def _redirect(self, job: Job, url: str) -> None:
        fetch, most = job.fetch, self._settings.max_redirects
        if url in (fetch.url, *fetch.redirects):
            raise PageError(Reason.REDIRECT, f"a loop, back to {url}")
        if len(fetch.redirects) >= most:
            raise PageError(Reason.REDIRECT, f"more than {most} redirects")
        try:
            domain = self._outlet.domain_of(url)
        except PageError as error:
            raise PageError(Reason.REDIRECT, error.message) from None
        moved = replace(fetch, redirects=(*fetch.redirects, url))
        if domain == job.domain:
            job.fetch, job.is_parked = moved, False
            await self._places.place(job)
        else:
            await self._outlet.send_again(job, moved, domain)
            self._metrics.sent_on.inc()
            job.finish()

    async def _again(self, host: str, job: Job, error: ComeAgainError) -> None:
        now, attempt = self._clock(), job.fetch.attempt + 1
        if attempt >= self._settings.fetch_attempts:
            raise PageError(error.reason, f"{error.message}, the last of {attempt} attempts")
        state = self._hosts.get(job.partition, job.domain, host)
        backs_off = state.backoff_until > now
        later = state.backoff_until if backs_off else retry_at(job.fetch.url, attempt, now)
        fetch = replace(job.fetch, attempt=attempt, not_before=later, trouble=error.message)
        await self._outlet.send_again(job, fetch, job.domain)
        job.finish()

    async def _place(self, job: Job) -> None:
        try:
            # meanwhile it may have been sent again, by `drain`
            if await self._outlet.is_mine(job) and not job.future.done():
                await self._places.place(job)
        except PageError as error:
            await self._refuse(job, error)

    async def _refuse(self, job: Job, error: PageError) -> None:
        await self._outlet.refuse(job, error.reason, error.message)
        job.finish()
