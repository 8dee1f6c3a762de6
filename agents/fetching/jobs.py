"""A request that a worker of `fetch` has to send, and the stage's actions for it.

HostJob ─┬─ PageJob     a record of fetches: a page
         └─ SmallJob    a record of requests: a feed, a sitemap, a section page, or a file such
                        as robots.txt for another host
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import urlsplit

from agents.kafka.delivery import Work
from agents.kafka.session.broker_time import BrokerTime
from models.crawl.fetch import FetchRequest
from models.crawl.host_request import HostRequest
from urltree.address.url import normalise
from urltree.crawl.decisions.poll.answer import PageReport, PollAnswer
from urltree.crawl.decisions.rules.rules import WaitingPage
from urltree.crawl.web.cookies import ChainCookies, may_request_again
from urltree.page import Page, Reason


@dataclass(slots=True, eq=False)
class HostJob:
    """A request that this worker has to send.

    Attributes:
        work: the record of the request, in flight.
        origin: place of the record's first copy, as topic/partition/offset.
        domain: registrable domain of the next request.
        future: done when this worker has finished the record; `work` waits for it.
        is_parked: whether the record has been parked before.
        errors: number of unexpected errors so far.
        files: redirects of the host's robots.txt that were followed so far, the last one next.
        cookies: cookies that the responses have set. They are in memory only, so they are lost if
            another worker continues the chain of redirects.
        visits: by address, the number of cookies that were set before each request for it.
        start: number of redirects up to the first address of the chain on this domain. If the chain
            depends on cookies, another worker continues there.
    """

    work: Work
    origin: str
    domain: str
    future: asyncio.Future[None]
    is_parked: bool = False
    errors: int = 0
    files: tuple[str, ...] = ()
    cookies: ChainCookies = field(default_factory=ChainCookies)
    visits: dict[str, list[int]] = field(default_factory=dict)
    start: int = 0

    @property
    def kept_redirects(self) -> tuple[str, ...]:
        """Redirects with which another worker can continue the chain.

        Without the cookies of this chain, the site would redirect the request in a loop.
        """
        return self.redirects[: self.start] if self.cookies.changes else self.redirects

    def note_request(self, url: str) -> None:
        """Remember that an address is requested now."""
        self.visits.setdefault(url, []).append(self.cookies.changes)

    def may_follow(self, url: str) -> bool:
        """Return whether the chain of redirects may go on to an address.

        It may come back to an address once, if a cookie was set since.
        """
        if url not in (self.first_url, *self.redirects):
            return True
        return url in self.visits and may_request_again(self.visits[url], self.cookies.changes)

    @property
    def target(self) -> str:
        """Address that is requested next."""
        raise NotImplementedError

    @property
    def first_url(self) -> str:
        """Address that was named first."""
        raise NotImplementedError

    @property
    def redirects(self) -> tuple[str, ...]:
        """Addresses to which the request was redirected so far."""
        raise NotImplementedError

    @property
    def partition(self) -> int:
        """Partition of the record."""
        return int(self.work.message.partition)

    @property
    def host(self) -> str:
        """Host of the next request."""
        return host_of(self.target)

    @property
    def scheme(self) -> str:
        """Scheme of the next request."""
        return urlsplit(self.target).scheme.lower()

    def finish(self) -> None:
        """Mark the record as finished in this worker."""
        if not self.future.done():
            self.future.set_result(None)


@dataclass(slots=True, eq=False)
class PageJob(HostJob):
    """A page that this worker has to fetch.

    Attributes:
        fetch: the decoded record, with the redirects inside the domain that were followed since.
        is_released: whether a page that was held is requested again.
    """

    fetch: FetchRequest = field(kw_only=True)
    is_released: bool = False

    @property
    def target(self) -> str:
        """Address that is requested next."""
        return self.fetch.target

    @property
    def first_url(self) -> str:
        """Address of the page in its feed."""
        return self.fetch.url

    @property
    def redirects(self) -> tuple[str, ...]:
        """Addresses to which the page was redirected so far."""
        return self.fetch.redirects

    def follow(self, url: str) -> None:
        """Make a redirect the next address."""
        self.fetch = replace(self.fetch, redirects=(*self.fetch.redirects, url))

    def restart(self) -> bool:
        """Go back to the first address of the chain on this domain, for it may need cookies.

        Return whether the next address changed.
        """
        if len(self.redirects) <= self.start:
            return False
        self.fetch = replace(self.fetch, redirects=self.redirects[: self.start])
        return True

    def again(self, **changes: Any) -> FetchRequest:
        """Return the record with which the page is fetched later, with other values of fields."""
        return replace(self.fetch, redirects=self.kept_redirects, **changes)


@dataclass(slots=True, eq=False)
class SmallJob(HostJob):
    """A small request of another worker, or of the owner of a source.

    Attributes:
        request: the decoded record, with the redirects inside the domain that were followed since.
    """

    request: HostRequest = field(kw_only=True)

    @property
    def target(self) -> str:
        """Address that is requested next."""
        return self.request.target

    @property
    def first_url(self) -> str:
        """Address that was asked first."""
        return self.request.url

    @property
    def redirects(self) -> tuple[str, ...]:
        """Addresses to which the request was redirected so far."""
        return self.request.redirects

    def follow(self, url: str) -> None:
        """Make a redirect the next address."""
        self.request = replace(self.request, redirects=(*self.request.redirects, url))

    def again(self) -> HostRequest:
        """Return the record with which another worker continues the request."""
        return replace(self.request, redirects=self.kept_redirects)


@lru_cache(maxsize=4_096)
def host_of(url: str) -> str:
    """Return the host of a URL, in lower case, with its port unless it is the default.

    Raises:
        PageError: `bad-url`.
    """
    return normalise(url).netloc


class FetchStage(Protocol):
    """The actions of the stage that the fetching service needs.

    Attributes:
        broker_time: time of the broker, as the worker's own records show it.
    """

    broker_time: BrokerTime

    def domain_of(self, url: str) -> str:
        """Return the registrable domain of a URL. Raises PageError(bad-url)."""

    def page_of(self, job: HostJob) -> WaitingPage:
        """Return what rules compare about a record."""

    async def is_mine(self, job: HostJob) -> bool:
        """Return whether the partition of a record still belongs to this worker."""

    async def publish(self, job: PageJob, page: Page) -> None:
        """Send a page to raw-html, and wait until Kafka has confirmed it."""

    async def send_again(self, job: PageJob, fetch: FetchRequest, domain: str) -> None:
        """Send a page to `fetches` again, to be fetched later or by another worker."""

    async def ask(self, job: HostJob, request: HostRequest, domain: str) -> None:
        """Send a request to the worker that owns a domain."""

    async def answer(self, job: HostJob, record: PollAnswer | PageReport) -> None:
        """Send what a request has shown to the owner of the source."""

    async def end_unchanged(self, job: PageJob) -> None:
        """Record that a page was asked for again and has not changed."""

    async def refuse(self, job: HostJob, reason: Reason, text: str) -> None:
        """Send a record to the dead-letter topic."""

    def report_progress(self) -> None:
        """Report that a request has begun or ended: the worker is not stalled."""

    def is_full(self) -> bool:
        """Return whether a record in flight must finish before the worker accepts another."""

    def fail(self, error: BaseException) -> None:
        """End the process because of an error."""
