"""The service of `fetch`: sends all requests to hosts, to each host at its own pace.

    page ──▶ place ──▶ host's queue ──▶ host ready: page_request.py ──▶ published
               │           ▲    │                     ├──▶ redirected: placed again, or sent on
               │ much      │    │ slower than         ├──▶ retry: sent to `fetches` again
               │ later     │    │ expected            └──▶ dead letter
               └──▶ parked ┘◀───┘
                      └──▶ sent to `fetches` again, to wait there

    small request ──▶ before the pages of its host ──▶ source_request.py ──▶ answered
                  └──▶ host rests: answered as postponed

A record stays in flight for one to two minutes at most, so that the committed offset is never far
behind. A worker that stops waits a few seconds for its running requests, sends all other pages to
`fetches` again, and then commits all its records. After a crash, unfinished pages are fetched
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from time import monotonic, time
from typing import Any

from agents.fetching.feed_content import coverage_report, feed_page, is_from_feed
from agents.fetching.host_client import HostClient, PartitionLostError
from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchStage, HostJob, PageJob, SmallJob, host_of
from agents.fetching.page_checks import PageChecks
from agents.fetching.page_request import (
    FetchedPage,
    Held,
    PageRequester,
    PageResult,
    Redirect,
    Restarted,
    Unchanged,
    check_robots,
)
from agents.fetching.parsers import Parsers
from agents.fetching.robots_request import AskedElsewhereError, RobotsRequester
from agents.fetching.source_request import SourceRequester, failure, outcome_of
from agents.fetching.waiting import WaitingPages
from agents.kafka.delivery import Work
from agents.rules.gate import RequestGate, StoppedError
from agents.rules.watcher import RulesWatcher
from agents.settings.job import Settings
from agents.stage import OURS
from agents.telemetry.logs import log
from agents.telemetry.metrics import Metrics
from models.command import Forget
from models.crawl.host_request import Purpose
from urltree.crawl.decisions.host.host_state import retry_at, retry_refused_at
from urltree.crawl.decisions.host.page.validators import PageValidators
from urltree.crawl.decisions.host.page_response import StatusError, TryLaterError
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer
from urltree.crawl.decisions.poll.outcome import PollResult
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.decisions.timing import has_clock_moved, may_sweep
from urltree.crawl.web.client import WebClient
from urltree.page import Page, PageError, Reason

_TICK = 1.0  # longest pause of the loop in seconds; events end it earlier
_DRAIN = 3.0  # seconds after which a worker that stops cancels its running requests
_DENIED = 3_600.0  # seconds after which a source is asked for again that a rule forbids
_SOON = 30.0  # seconds for which a small request waits for its host; if longer, it is postponed


class Fetching:
    """Service that requests the pages of a worker.

    Args:
        settings: settings of the job.
        hosts: states of the hosts.
        checks: what is remembered about pages.
        stage: actions of the stage for its pages.
        metrics: metrics of the worker.
        clock: returns seconds since 1970.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        settings: Settings,
        hosts: Hosts,
        checks: PageChecks,
        stage: FetchStage,
        metrics: Metrics,
        clock: Callable[[], float] = time,
    ) -> None:
        self._settings = settings
        self._hosts = hosts
        self._stage = stage
        self._metrics = metrics
        self._clock = clock
        self._web = WebClient(settings.client)
        self._parsers = Parsers(settings.parsers, settings.parse_seconds, settings.max_feed_items)
        self._rules = RulesWatcher(settings, stage.fail, metrics, self._on_rules)
        self._gate = RequestGate(self._rules)
        self._client = HostClient(settings, self._web, self._gate, hosts, stage, metrics, clock)
        self._checks = checks
        self._pages = PageRequester(settings, self._client, checks, metrics)
        self._robots = RobotsRequester(settings, self._client, stage, metrics)
        self._sources = SourceRequester(self._client, self._parsers, settings)
        self._waiting = WaitingPages(
            hosts, stage, metrics, settings.park_seconds, self._client.seconds_each, clock
        )
        self._clocks = clock(), monotonic()
        self._jobs: set[HostJob] = set()
        self._requests: dict[asyncio.Task[None], HostJob] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        queues = self._waiting.queues
        metrics.gauge("hosts", "Hosts for which pages wait.", lambda: sum(1 for _ in queues))
        late = "Hosts that are ready, and wait for the limits of their domain, address or worker."
        metrics.gauge("hosts_overdue", late, lambda: self._client.waiting)
        metrics.gauge("queued", "Pages in this worker's memory.", lambda: len(self._jobs))

    async def start(self) -> None:
        """Start the service unless it is running."""
        if self._loop is None:
            await self._rules.start()
            await self._web.__aenter__()
            await self._parsers.__aenter__()
            self._loop = asyncio.create_task(self._run())
            self._loop.add_done_callback(self._end_if_failed)

    async def stop(self) -> None:
        """Cancel all requests and stop."""
        self.clear()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            await self._parsers.__aexit__(None, None, None)
            await self._web.__aexit__(None, None, None)
            await self._rules.stop()
            self._loop = None

    async def add(self, job: HostJob) -> None:
        """Accept a record. The job's future is done when this worker has finished it.

        Raises:
            PageError: the host of a page has failed for hours.
        """
        self._jobs.add(job)
        job.future.add_done_callback(lambda _: self._jobs.discard(job))
        try:
            await self._sweep(job)
            await self._queue(job)
        except PartitionLostError:
            return
        except BaseException:
            job.finish()
            raise
        self._wake.set()

    async def forget(self, forget: Forget, partition: int, work: Work) -> None:
        """Delete what is remembered about pages, as the command `forget` asks."""
        await self._checks.forget(forget, partition, work)

    async def drain(self) -> None:
        """Wait a few seconds for running requests, then send all other pages to `fetches` again."""
        self._waiting.is_closed = True
        if self._requests:
            await asyncio.wait(self._requests, timeout=_DRAIN)
        self._cancel()
        for job in list(self._jobs):
            await self._send_again(job)
        self._waiting.clear()

    def clear(self) -> None:
        """Cancel all requests and drop all pages, because they belong to other workers now."""
        self._cancel()
        self._jobs.clear()
        self._waiting.clear()
        self._waiting.is_closed = False
        self._hosts.clear()
        self._checks.clear()

    @property
    def rules(self) -> RulesWatcher:
        """The rules of the operator, as this worker knows them."""
        return self._rules

    def _on_rules(self) -> None:
        self._gate.check()

    def _cancel(self) -> None:
        for task in self._requests:
            task.cancel()
        self._requests.clear()

    async def _sweep(self, job: HostJob) -> None:
        """Delete the expired rows of a job's domain once, while the clock can be trusted."""
        now = self._clock()
        if not may_sweep(now, self._stage.broker_time.now()):
            return
        if await self._hosts.sweep(job.partition, job.domain, now, job.work):
            await self._checks.sweep(job)

    async def _check_clock(self) -> None:
        """Read all states again if the clock was set back: their times are in the future."""
        before, self._clocks = self._clocks, (self._clock(), monotonic())
        if not has_clock_moved(before, self._clocks) or self._clocks[0] > before[0]:
            return
        log.warning("the clock was set back; reading the states of all hosts again")
        self._hosts.clear()
        self._checks.clear()
        for job in self._waiting.restart():
            await self._place(job)

    async def _run(self) -> None:
        while True:
            await self._check_clock()
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
        queues = None if self._waiting.is_closed else self._waiting.queues
        times = [self._waiting.next_at(), None if queues is None else queues.next_at()]
        first = min((at for at in times if at is not None), default=None)
        return _TICK if first is None else min(max(0.0, first - self._clock()), _TICK)

    def _start_requests(self) -> None:
        if self._waiting.is_closed:
            return
        for host, job in self._waiting.queues.take(self._clock()):
            self._start(job, self._serve_host(host, job))

    def _start(self, job: HostJob, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
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

    async def _serve_host(self, host: str, job: HostJob) -> None:
        """Send one request to a host, and handle its result. The caller may cancel this call."""
        until = 0.0
        try:
            await self._request(host, job)
        except PartitionLostError:
            return
        except AskedElsewhereError as error:
            until = error.until
            self._waiting.queues.put_back(host, job)
        except (PageError, StoppedError) as error:
            try:
                await self._end(job, error)
            except PartitionLostError:
                return
        self._stage.report_progress()
        state = self._hosts.get(job.partition, job.domain, host)
        self._waiting.queues.done(host, max(until, state.next_request_at))
        if until:
            return  # the answer ends the pause, and the pages must be in the queue then
        for waiting in self._waiting.overflow(host, job):
            await self._place(waiting)

    async def _request(self, host: str, job: HostJob) -> None:
        """Send one request to a host: for its robots.txt if needed, and otherwise for the job."""
        try:
            if isinstance(job, PageJob):
                await self._request_page(host, job)
            elif isinstance(job, SmallJob):
                await self._request_small(host, job)
        except (PageError, PartitionLostError, AskedElsewhereError, StoppedError, *OURS):
            raise
        except Exception as error:
            job.errors += 1
            log.error(
                "unexpected error while sending a request to a host",
                origin=job.origin,
                tries=job.errors,
                exc_info=error,
            )
            if job.errors > 1:
                raise PageError(Reason.INTERNAL, repr(error)) from error
            self._metrics.retries.inc()
            self._waiting.queues.put_back(host, job)

    async def _request_page(self, host: str, job: PageJob) -> None:
        found = self._rules.verdict_of_page(job.fetch, job.origin)
        if found is not None:
            raise StoppedError(found)
        if self._client.state(job).page_ready_at(job.scheme) > self._clock():
            await self._waiting.place(job)  # only pages rest, or only this scheme
            return
        try:
            rules = self._client.rules(job)
            if rules is None:
                await self._robots.ask(job)
                self._waiting.queues.put_back(host, job)
                return
            result = await self._pages.request(job, rules)
        except TryLaterError as error:
            await self._retry_later(host, job, error)
            return
        except StatusError as error:
            await self._retry_refused(job, error)
            return
        await self._handle(host, job, result)

    async def _handle(self, host: str, job: PageJob, result: PageResult | None) -> None:
        """Do what the result of a request for a page calls for."""
        match result:
            case None:
                self._waiting.queues.put_back(host, job)
            case Restarted():
                await self._waiting.place(job)
            case Redirect(url):
                await self._redirect(job, url)
            case Held(until):
                await self._hold(job, until)
            case Unchanged():
                await self._stage.end_unchanged(job)
                job.finish()
            case FetchedPage(page, validators):
                await self._publish(job, page, validators)

    def _is_expired(self, job: SmallJob) -> bool:
        """Return whether a request has waited too long; finish it then: it was made again."""
        if self._clock() - job.request.asked_at <= job.request.expires:
            return False
        self._metrics.expired_requests.inc()
        job.finish()
        return True

    async def _request_small(self, host: str, job: SmallJob) -> None:
        if self._is_expired(job):
            return
        if job.request.purpose is Purpose.FILE:
            moved = await self._robots.serve(job)
        else:
            result = await self._request_source(host, job)
            if result is None:
                return
            moved = result if isinstance(result, str) else None
            for answer in [] if isinstance(result, str) else result:
                await self._answer(job, answer)
        if moved is None:
            job.finish()
        else:
            await self._redirect_small(job, moved)

    async def _request_source(self, host: str, job: SmallJob) -> str | list[PollAnswer] | None:
        """Return the answer or the redirect of a source; None if robots.txt was asked for."""
        if job.request.kind is SourceKind.SECTION:
            try:
                rules = self._client.rules(job)
                if rules is None:
                    await self._robots.ask(job)
                    self._waiting.queues.put_back(host, job)
                    return None
                check_robots(rules, job.target, job.host)
            except TryLaterError as error:
                return self._failed(job, Trouble.STATUS, error.message)
            except PageError as error:
                return self._failed(job, Trouble.STATUS, error.message)
        return await self._sources.request(job)

    def _failed(self, job: SmallJob, trouble: Trouble, message: str) -> list[PollAnswer]:
        return [failure(job.request, self._clock(), WebError(trouble, message))]

    async def _answer(self, job: SmallJob, answer: PollAnswer) -> None:
        """Send a part of an answer.

        Raises:
            PartitionLostError: the host belongs to another worker now.
        """
        if not await self._stage.is_mine(job):
            raise PartitionLostError
        # `poll` applies this time to the host of the source, not to one behind a redirect.
        is_first = job.host == host_of(job.first_url)
        ready_at = self._client.state(job).next_request_at if is_first else 0.0
        await self._stage.answer(job, replace(answer, host_ready_at=ready_at))

    async def _hold(self, job: PageJob, until: float) -> None:
        """Let a page that may be a wall wait in `fetches`."""
        now, since = self._clock(), job.fetch.held_since
        fetch = replace(job.fetch, held_since=now if since is None else since, not_before=until)
        await self._stage.send_again(job, fetch, job.domain)
        self._metrics.held.inc()
        job.finish()

    async def _retry_refused(self, job: PageJob, error: StatusError) -> None:
        """Ask again later for a new page that was answered by 404 or 403.

        Raises:
            StatusError: the answer is final.
        """
        fetch, now = job.fetch, self._clock()
        later = retry_refused_at(
            fetch.url, error.status, fetch.refusals, fetch.named_at, fetch.is_first_poll, now
        )
        if later is None:
            raise error
        again = job.again(refusals=fetch.refusals + 1, not_before=later, trouble=error.message)
        await self._stage.send_again(job, again, job.domain)
        job.finish()

    async def _publish(
        self, job: PageJob, page: Page, validators: PageValidators | None = None
    ) -> None:
        report = coverage_report(job.fetch, page, self._clock())
        await self._stage.publish(job, page)
        if validators is not None:
            await self._checks.keep_validators(job, validators)
        if report is not None:
            await self._stage.answer(job, report)
        self._metrics.pages.inc()
        job.finish()

    async def _publish_from_feed(self, job: PageJob) -> None:
        """Publish a page as its feed contains it, unless a rule forbids it."""
        try:
            await self._rules.until_current()
            found = self._rules.verdict_of_page(job.fetch, job.origin)
            if found is not None:
                await self._end(job, StoppedError(found))
                return
            await self._publish(
                job, feed_page(job.fetch, self._clock(), self._settings.max_page_bytes)
            )
        except PageError as error:
            await self._refuse(job, error)

    async def _redirect(self, job: PageJob, url: str) -> None:
        fetch, most = job.fetch, self._settings.max_redirects
        if not job.may_follow(url):
            raise PageError(Reason.REDIRECT, f"redirect loop: back to {url}")
        if len(fetch.redirects) >= most:
            raise PageError(Reason.REDIRECT, f"the page was redirected more than {most} times")
        try:
            domain = self._stage.domain_of(url)
        except PageError as error:
            raise PageError(Reason.REDIRECT, error.message) from None
        if domain == job.domain:
            job.follow(url)
            job.is_parked = False
            await self._waiting.place(job)
        else:
            moved = replace(fetch, redirects=(*fetch.redirects, url))
            await self._stage.send_again(job, moved, domain)
            self._metrics.sent_on.inc()
            job.finish()

    async def _redirect_small(self, job: SmallJob, url: str) -> None:
        """Ask the next host of a chain of redirects, or its owner."""
        try:
            domain = self._stage.domain_of(url)
        except PageError as error:
            await self._end_chain(job, error.message)
            return
        job.follow(url)
        if domain == job.domain:
            await self._queue(job)
        else:
            await self._stage.ask(job, job.request, domain)
            self._metrics.sent_on.inc()
            job.finish()

    async def _end_chain(self, job: SmallJob, message: str) -> None:
        if job.request.purpose is Purpose.SOURCE:
            for answer in self._failed(job, Trouble.REDIRECT, message):
                await self._answer(job, answer)
        else:
            await self._robots.answer(job, f"{Trouble.REDIRECT}: {message}")
        job.finish()

    async def _retry_later(self, host: str, job: PageJob, error: TryLaterError) -> None:
        now, attempt = self._clock(), job.fetch.attempt + 1
        if attempt >= self._settings.fetch_attempts:
            raise PageError(
                error.reason, f"given up after {attempt} attempts; the last one: {error.message}"
            )
        state = self._hosts.get(job.partition, job.domain, host)
        rests_until = max(state.backoff_until, state.no_robots_until, state.rests_until(job.scheme))
        later = rests_until if rests_until > now else retry_at(job.fetch.url, attempt, now)
        fetch = job.again(attempt=attempt, not_before=later, trouble=error.message)
        await self._stage.send_again(job, fetch, job.domain)
        job.finish()

    async def _queue(self, job: HostJob) -> None:
        """Put a job where it waits for its host.

        Raises:
            PageError: the host of a page has failed for hours.
        """
        if isinstance(job, PageJob) and is_from_feed(job.fetch):
            self._start(job, self._publish_from_feed(job))
        elif isinstance(job, PageJob):
            await self._waiting.place(job)
        elif isinstance(job, SmallJob):
            await self._queue_small(job)

    async def _queue_small(self, job: SmallJob) -> None:
        request, now = job.request, self._clock()
        if request.purpose is Purpose.FILE_ANSWER:
            await self._robots.receive(job)
            self._waiting.queues.resume(job.host, self._client.state(job).next_request_at)
            job.finish()
            for waiting in self._waiting.overflow(job.host, job):
                await self._place(waiting)
            return
        if self._is_expired(job):
            return
        if self._waiting.is_closed:
            await self._send_again(job)
            return
        ready_at = self._client.state(job).ready_at(job.scheme)
        if ready_at - now > _SOON:
            await self._postpone(job, ready_at, now)
            job.finish()
            return
        self._waiting.queues.pause_until(job.host, ready_at)
        self._waiting.queues.add(job.host, job, now, is_small=True)
        self._wake.set()

    async def _postpone(self, job: SmallJob, ready_at: float, now: float) -> None:
        """Answer a request whose host rests, so that its record does not wait here."""
        if job.request.purpose is Purpose.SOURCE:
            outcome = outcome_of(job.request, now, PollResult.FAILED)
            await self._answer(job, PollAnswer(outcome=outcome, postponed_until=ready_at))
        else:
            await self._robots.answer(job, f"host {job.host} may not be asked now")

    async def _place(self, job: HostJob) -> None:
        try:
            # `drain` may have sent the record again in the meantime
            if await self._stage.is_mine(job) and not job.future.done():
                await self._queue(job)
        except PartitionLostError:
            return
        except PageError as error:
            await self._refuse(job, error)

    async def _send_again(self, job: HostJob) -> None:
        """Leave a job to the next owner of its partition."""
        if isinstance(job, PageJob):
            await self._stage.send_again(job, job.again(), job.domain)
        elif isinstance(job, SmallJob):
            await self._stage.ask(job, job.again(), job.domain)
        job.finish()

    async def _end(self, job: HostJob, error: PageError | StoppedError) -> None:
        """End a job that cannot be carried out, and tell the owner of its source why."""
        if isinstance(error, StoppedError):
            await self._stop_job(job, error)
        else:
            await self._report_wall(job, error)
            await self._refuse(job, error)

    async def _stop_job(self, job: HostJob, error: StoppedError) -> None:
        """End a job that a rule forbids."""
        now, verdict = self._clock(), error.verdict
        if isinstance(job, SmallJob):
            await self._postpone(job, now + _DENIED, now)
            job.finish()
            return
        if isinstance(job, PageJob) and not verdict.counts_as_seen:
            site, feed = job.fetch.site, job.fetch.feed
            if site is not None and feed is not None:
                report = PageReport(site=site, feed=feed, at=now, dropped=(job.fetch.url,))
                await self._stage.answer(job, report)
        await self._stage.refuse(job, verdict.reason, verdict.message)
        job.finish()

    async def _report_wall(self, job: HostJob, error: PageError) -> None:
        if not isinstance(job, PageJob) or error.reason is not Reason.WALL:
            return
        site, feed = job.fetch.site, job.fetch.feed
        if site is not None and feed is not None:
            report = PageReport(site=site, feed=feed, at=self._clock(), walls=1)
            await self._stage.answer(job, report)

    async def _refuse(self, job: HostJob, error: PageError) -> None:
        if not isinstance(job, SmallJob):
            await self._stage.refuse(job, error.reason, error.message)
        elif job.request.purpose is Purpose.SOURCE:
            await self._answer(job, failure(job.request, self._clock(), error))
        else:
            await self._robots.answer(job, error.message)
        job.finish()
