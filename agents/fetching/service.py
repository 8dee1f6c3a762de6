"""The service of `fetch`: requests pages, each host at its own pace.

    record ──▶ place ──▶ host's queue ──▶ host ready: page_request.py ──▶ published
                 │           ▲    │                     ├──▶ redirected: placed again, or sent on
                 │ much      │    │ slower than         ├──▶ retry: sent to `fetches` again
                 │ later     │    │ expected            └──▶ dead letter
                 └──▶ parked ┘◀───┘
                        └──▶ sent to `fetches` again, to wait there

A record stays in flight for one to two minutes at most, so that the committed offset is never far
behind. A worker that stops waits a few seconds for its running requests, sends all other pages to
`fetches` again, and then commits all its records. After a crash, unfinished pages are fetched
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from time import time

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchJob, FetchStage
from agents.fetching.page_request import PageRequester, PartitionLostError
from agents.fetching.waiting import WaitingPages
from agents.settings.job import Settings
from agents.stage import OURS
from agents.telemetry.logs import log
from agents.telemetry.metrics import Metrics
from urltree.crawl.decisions.host.host_state import retry_at
from urltree.crawl.decisions.host.page_response import TryLaterError
from urltree.crawl.web.client import WebClient
from urltree.page import Page, PageError, Reason

_TICK = 1.0  # longest pause of the loop in seconds; events end it earlier
_DRAIN = 3.0  # seconds after which a worker that stops cancels its running requests


class Fetching:
    """Service that requests the pages of a worker.

    Args:
        settings: settings of the job.
        hosts: states of the hosts.
        stage: actions of the stage for its pages.
        metrics: metrics of the worker.
        clock: returns seconds since 1970.
    """

    def __init__(
        self,
        settings: Settings,
        hosts: Hosts,
        stage: FetchStage,
        metrics: Metrics,
        clock: Callable[[], float] = time,
    ) -> None:
        self._settings = settings
        self._hosts = hosts
        self._stage = stage
        self._metrics = metrics
        self._clock = clock
        self._client = WebClient(settings.client)
        self._requester = PageRequester(settings, self._client, hosts, stage, metrics, clock)
        self._waiting = WaitingPages(
            hosts, stage, metrics, settings.park_seconds, self._requester.seconds_each, clock
        )
        self._jobs: set[FetchJob] = set()
        self._requests: dict[asyncio.Task[None], FetchJob] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        queues = self._waiting.queues
        metrics.gauge("hosts", "Hosts for which pages wait.", lambda: sum(1 for _ in queues))
        late = "Hosts that are ready for a request and wait for a free slot."
        metrics.gauge("hosts_overdue", late, lambda: queues.overdue(clock()))
        metrics.gauge("queued", "Pages in this worker's memory.", lambda: len(self._jobs))

    async def start(self) -> None:
        """Start the service unless it is running."""
        if self._loop is None:
            await self._client.__aenter__()
            self._loop = asyncio.create_task(self._run())
            self._loop.add_done_callback(self._end_if_failed)

    async def stop(self) -> None:
        """Cancel all requests and stop."""
        self.clear()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            await self._client.__aexit__(None, None, None)
            self._loop = None

    async def add(self, job: FetchJob) -> None:
        """Accept a page. The job's future is done when this worker has finished the page.

        Raises:
            PageError: the page's host has failed for hours.
        """
        self._jobs.add(job)
        job.future.add_done_callback(lambda _: self._jobs.discard(job))
        try:
            await self._hosts.sweep(job.partition, job.domain, self._clock(), job.work)
            await self._waiting.place(job)
        except BaseException:
            job.finish()
            raise
        self._wake.set()

    async def drain(self) -> None:
        """Wait a few seconds for running requests, then send all other pages to `fetches` again."""
        self._waiting.is_closed = True
        if self._requests:
            await asyncio.wait(self._requests, timeout=_DRAIN)
        self._cancel()
        for job in list(self._jobs):
            await self._stage.send_again(job, job.fetch, job.domain)
            job.finish()
        self._waiting.clear()

    def clear(self) -> None:
        """Cancel all requests and drop all pages, because they belong to other workers now."""
        self._cancel()
        self._jobs.clear()
        self._waiting.clear()
        self._waiting.is_closed = False
        self._hosts.clear()

    def _cancel(self) -> None:
        for task in self._requests:
            task.cancel()
        self._requests.clear()

    async def _run(self) -> None:
        while True:
            self._start_requests()
            for job in self._waiting.take_due():
                await self._place(job)
            try:
                async with asyncio.timeout(self._pause()):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()

    def _pause(self) -> float:
        room = self._settings.fetches_at_once - len(self._requests)
        free = room > 0 and not self._waiting.is_closed
        times = [self._waiting.next_at(), self._waiting.queues.next_at() if free else None]
        first = min((at for at in times if at is not None), default=None)
        return _TICK if first is None else min(max(0.0, first - self._clock()), _TICK)

    def _start_requests(self) -> None:
        room = self._settings.fetches_at_once - len(self._requests)
        if self._waiting.is_closed or room <= 0:
            return
        for host, job in self._waiting.queues.take(self._clock(), at_most=room):
            task = asyncio.create_task(self._serve_host(host, job))
            self._requests[task] = job
            task.add_done_callback(self._on_request_end)

    def _on_request_end(self, task: asyncio.Task[None]) -> None:
        self._requests.pop(task, None)
        self._end_if_failed(task)
        self._wake.set()

    def _end_if_failed(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._stage.fail(error)

    async def _serve_host(self, host: str, job: FetchJob) -> None:
        """Make one request to a host, and handle its result. The caller may cancel this call."""
        try:
            await self._request(host, job)
        except PartitionLostError:
            return
        except PageError as error:
            await self._refuse(job, error)
        self._stage.report_progress()
        state = self._hosts.get(job.partition, job.domain, host)
        self._waiting.queues.done(host, state.next_request_at)
        for waiting in self._waiting.overflow(host, job):
            await self._place(waiting)

    async def _request(self, host: str, job: FetchJob) -> None:
        try:
            result = await self._requester.request(job)
            if result is None:
                self._waiting.queues.put_back(host, job)
            elif isinstance(result, str):
                await self._redirect(job, result)
            else:
                await self._publish(job, result)
        except TryLaterError as error:
            await self._retry_later(host, job, error)
        except (PageError, PartitionLostError, *OURS):
            raise
        except Exception as error:
            job.errors += 1
            log.error(
                "unexpected error while fetching a page",
                origin=job.origin,
                tries=job.errors,
                exc_info=error,
            )
            if job.errors > 1:
                raise PageError(Reason.INTERNAL, repr(error)) from error
            self._metrics.retries.inc()
            self._waiting.queues.put_back(host, job)

    async def _publish(self, job: FetchJob, page: Page) -> None:
        await self._stage.publish(job, page)
        self._metrics.pages.inc()
        job.finish()

    async def _redirect(self, job: FetchJob, url: str) -> None:
        fetch, most = job.fetch, self._settings.max_redirects
        if url in (fetch.url, *fetch.redirects):
            raise PageError(Reason.REDIRECT, f"redirect loop: back to {url}")
        if len(fetch.redirects) >= most:
            raise PageError(Reason.REDIRECT, f"the page was redirected more than {most} times")
        try:
            domain = self._stage.domain_of(url)
        except PageError as error:
            raise PageError(Reason.REDIRECT, error.message) from None
        moved = replace(fetch, redirects=(*fetch.redirects, url))
        if domain == job.domain:
            job.fetch, job.is_parked = moved, False
            await self._waiting.place(job)
        else:
            await self._stage.send_again(job, moved, domain)
            self._metrics.sent_on.inc()
            job.finish()

    async def _retry_later(self, host: str, job: FetchJob, error: TryLaterError) -> None:
        now, attempt = self._clock(), job.fetch.attempt + 1
        if attempt >= self._settings.fetch_attempts:
            raise PageError(
                error.reason, f"given up after {attempt} attempts; the last one: {error.message}"
            )
        state = self._hosts.get(job.partition, job.domain, host)
        backs_off = state.backoff_until > now
        later = state.backoff_until if backs_off else retry_at(job.fetch.url, attempt, now)
        fetch = replace(job.fetch, attempt=attempt, not_before=later, trouble=error.message)
        await self._stage.send_again(job, fetch, job.domain)
        job.finish()

    async def _place(self, job: FetchJob) -> None:
        try:
            # `drain` may have sent the page to `fetches` again in the meantime
            if await self._stage.is_mine(job) and not job.future.done():
                await self._waiting.place(job)
        except PageError as error:
            await self._refuse(job, error)

    async def _refuse(self, job: FetchJob, error: PageError) -> None:
        await self._stage.refuse(job, error.reason, error.message)
        job.finish()
