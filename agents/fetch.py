"""Stage fetch: sends all requests to hosts. Its records are keyed by the domain of the host.

    fetches, requests ──▶ decode ──▶ right partition? ──▶ fetching/ ──▶ raw-html, poll-outcomes
       ▲   ▲                └──────────────┴──────────────────┼───────▶ dead-letters
       └───┴─── redirected, to be retried, postponed ─────────┘

Only the worker that owns the partition of a domain sends requests to the hosts of this domain:
pages (fetches), and feeds, sitemaps, section pages and files such as robots.txt (requests). A page
stays in flight until Kafka has confirmed it in raw-html, its copy in `fetches`, or its dead letter;
a small request, until Kafka has confirmed its answer. Records finish in any order, but an offset is
committed only after all records before it are finished.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from aiokafka.errors import MessageSizeTooLargeError
from faust.types import TP
from faust.types.tuples import Message

from agents.app import make_table
from agents.fetching.hosts import Hosts
from agents.fetching.jobs import HostJob, PageJob, SmallJob
from agents.fetching.page_checks import PageChecks
from agents.fetching.service import Fetching
from agents.kafka.delivery import Delivery, OnFailure, Work
from agents.settings.job import Settings, SettingsError, require_contact
from agents.settings.schemes import Schemes
from agents.stage import Stage
from models import raw_html
from models.command import FORGET, Forget
from models.crawl import fetch as fetches
from models.crawl import host_request as requests
from models.crawl import poll_outcome as outcomes
from models.crawl import unchanged
from models.crawl.fetch import FetchRequest
from models.crawl.host_request import HostRequest, Purpose
from models.crawl.unchanged import Unchanged
from models.headers.names import COMMAND, FETCHED_FOR, ORIGIN, header
from urltree.crawl.decisions.host.page_response import format_rfc3339
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer
from urltree.crawl.decisions.rules.rules import NO_PAGE, WaitingPage
from urltree.page import Page, PageError, Reason


class Fetch(Stage):
    """The stage from fetches to raw-html.

    Args:
        settings: settings of the job.
        on_failure: called when the worker cannot continue.
        clock: returns seconds since 1970.
    """

    name = "fetch"
    reads = ("fetches", "requests")

    def __init__(
        self,
        settings: Settings,
        on_failure: OnFailure,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(settings, on_failure)
        require_contact(settings)
        _check_stall(settings)
        self.schemes = Schemes(settings)
        self._clock = clock
        self.hosts = Hosts(make_table(self.app, "host_state"), clock)
        checks = PageChecks(
            make_table(self.app, "host_pages"), make_table(self.app, "page_validators"), clock
        )
        self.fetching = Fetching(settings, self.hosts, checks, self, self.metrics, clock)
        self.app.before_wait = self._before_wait
        self.app.on_before_shutdown.connect(self._on_shutdown)

    @cached_property
    def delivery(self) -> Delivery:
        """Records in flight: more than in other stages, because pages wait for their hosts."""
        return Delivery(
            self.app.consumer,
            self.fail,
            max_records=self.settings.fetch_window,
            max_bytes=self.settings.in_flight_bytes,
        )

    async def process(self, message: Message, origin: str, work: Work) -> None:
        """Accept a record. The service sends its request after this method has returned."""
        if header(message.headers, COMMAND) is not None:
            await self._obey(message, work)
            return
        await self.fetching.start()
        job = self._job(message, origin, work)
        self.check_place(job.domain, message)
        work.wait_for(job.future)
        if isinstance(job, SmallJob) and not self._owns_pages(message.partition):
            job.finish()  # its sender asks again
            return
        await self.fetching.add(job)

    async def _obey(self, message: Message, work: Work) -> None:
        """Carry out the command `forget`.

        Raises:
            PageError: the record is not this command.
        """
        if header(message.headers, COMMAND) != FORGET:
            raise PageError(Reason.MALFORMED, "the command is unknown; this release knows `forget`")
        forget = Forget.decode(message.value)
        self.check_place(forget.domain, message)
        await self.fetching.forget(forget, message.partition, work)

    def _job(self, message: Message, origin: str, work: Work) -> HostJob:
        future = asyncio.get_running_loop().create_future()
        if message.topic == self.settings.topic("fetches"):
            wanted = fetches.decode(message.value)
            domain = self.domain_of(wanted.target)
            start = self._start_of_chain(wanted, domain)
            return PageJob(work, origin, domain, future, fetch=wanted, start=start)
        request = requests.decode(message.value)
        is_answer = request.purpose is Purpose.FILE_ANSWER
        domain = self.domain_of(request.url if is_answer else request.target)
        start = 0 if is_answer else self._start_of_chain(request, domain)
        return SmallJob(work, origin, domain, future, request=request, start=start)

    def _start_of_chain(self, record: FetchRequest | HostRequest, domain: str) -> int:
        """Return the number of redirects before which the chain was on another domain.

        Raises:
            PageError: with the reason `bad-url`.
        """
        chain = (record.url, *record.redirects)
        start = len(record.redirects)
        while start and self.domain_of(chain[start - 1]) == domain:
            start -= 1
        return start

    def _owns_pages(self, partition: int) -> bool:
        """Return whether this worker has the pages of a partition, too.

        While workers of an older release run, which do not read requests, Kafka may give the pages
        of a partition to one worker and its requests to another.
        """
        return TP(self.settings.topic("fetches"), partition) in self.app.consumer.assignment()

    def drop(self, partition: int, domain: str) -> None:  # noqa: ARG002 - hosts are not by domain
        """Clear the host states in memory; they will be read again from their rows."""
        self.hosts.clear()

    def clear(self) -> None:
        """Drop all pages, because the partitions may move to other workers."""
        self.fetching.clear()

    def domain_of(self, url: str) -> str:
        """Return the registrable domain of a URL.

        Raises:
            PageError: with the reason `bad-url`.
        """
        return self.schemes.domain(url)

    async def publish(self, job: PageJob, page: Page) -> None:
        """Send a page to raw-html and wait until Kafka has confirmed it.

        The size of the page is not counted for its record: while the record waits for earlier
        records to finish, the page is no longer in memory.

        Raises:
            PageError: with the reason `too-large`.
        """
        value, headers = raw_html.to_record(page)
        self.check_size("raw-html", value)
        headers.append((FETCHED_FOR, job.origin.encode()))
        domain = self.schemes.of(page)[0].domain(page.final_url or "")
        try:
            sent = await self.deliver("raw-html", self.key(domain), value, headers)
            await sent
        except MessageSizeTooLargeError as error:
            raise PageError(Reason.TOO_LARGE, f"raw-html: {error}") from error

    async def send_again(self, job: PageJob, wanted: FetchRequest, domain: str) -> None:
        """Send a page to `fetches` again, to be fetched later or by another worker.

        Raises:
            PageError: with the reason `too-large`.
        """
        headers = [(ORIGIN, job.origin.encode())]
        await self.send(job.work, "fetches", self.key(domain), fetches.encode(wanted), headers)

    async def ask(self, job: HostJob, request: HostRequest, domain: str) -> None:
        """Send a request to the worker that owns a domain."""
        await self.send(job.work, "requests", self.key(domain), requests.encode(request))

    async def answer(self, job: HostJob, record: PollAnswer | PageReport) -> None:
        """Send what a request has shown to the owner of the source."""
        site = record.site if isinstance(record, PageReport) else record.outcome.site
        await self.send(job.work, "poll-outcomes", self.key(site), outcomes.encode(record))

    async def end_unchanged(self, job: PageJob) -> None:
        """Record that a page was asked for again and has not changed."""
        at = format_rfc3339(self._clock())
        record = Unchanged(url=job.fetch.url, origin=job.origin, at=at)
        value = unchanged.encode(record)
        await self.send(job.work, "unchanged", self.key(job.origin), value)

    async def refuse(self, job: HostJob, reason: Reason, text: str) -> None:
        """Send a record to the dead-letter topic."""
        await self.dead_letter(job.work, job.origin, reason, text)

    def page_of(self, job: HostJob) -> WaitingPage:
        """Return what rules compare about a record."""
        if isinstance(job, PageJob):
            message = job.work.message
            place = int(message.partition), int(message.offset)
            return self.fetching.rules.page_of(job.fetch, job.origin, place)
        if isinstance(job, SmallJob) and job.request.feed_offset is not None:
            request = job.request
            return WaitingPage(None, request.feed, request.site, request.feed_offset)
        return NO_PAGE

    async def is_mine(self, job: HostJob) -> bool:
        """Return whether the partition of a record still belongs to this worker."""
        return await self.is_ours(job.work.message)

    def report_progress(self) -> None:
        """Report that a request has begun or ended."""
        self.delivery.moved()

    def is_full(self) -> bool:
        """Return whether a record in flight must finish before the worker accepts another."""
        return self.delivery.is_full

    async def _before_wait(self) -> None:
        if self.app.consumer.has_session:
            await self.fetching.drain()
        else:
            self.clear()
            self.delivery.clear()

    async def _on_shutdown(self, _app: Any, **_: Any) -> None:
        await self.fetching.stop()


def _check_stall(settings: Settings) -> None:
    """Refuse a stall timeout that normal waiting could exceed.

    A worker may make no progress while pages are parked (at most 1.5 times park_seconds), or while
    it waits for a response (at most total_seconds).

    Raises:
        SettingsError: stall_seconds is too short.
    """
    longest = max(1.5 * settings.park_seconds, settings.total_seconds)
    if settings.stall_seconds <= longest:
        raise SettingsError(
            f"stall_seconds is {settings.stall_seconds:g}, but fetch may wait {longest:g} s for a "
            "host: set stall_seconds higher than total_seconds and higher than 1.5 x park_seconds"
        )
