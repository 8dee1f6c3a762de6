"""The requests of a worker to hosts: the only place of the job that sends requests to the web.

    domain's limits ──▶ address's limit ──▶ worker's limit ──▶ is the host still ours?
                                                └──▶ do rules allow it? ──▶ request ──▶ host's state

Pages, sources and files such as robots.txt share the state of their host: its pause, its
Crawl-delay, and its back-off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchStage, HostJob
from agents.rules.gate import RequestGate
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from urltree.address.domain import icann_domain
from urltree.crawl.decisions.caching import retry_after
from urltree.crawl.decisions.host.host_state import HostState, update_after_response
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.host.shared_limits import SharedLimits
from urltree.crawl.decisions.host.walls import find_wall
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.client import WantsBody, WebClient, want_every_body
from urltree.crawl.web.domain_gate import DomainGate

_FORBIDDEN, _UNAVAILABLE = 403, 503


class PartitionLostError(Exception):
    """The partition of the record belongs to another worker now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a request asks for.

    Attributes:
        headers: header fields of the request.
        max_bytes: largest size of the body.
        cut: whether a larger body is cut; otherwise it is an error.
        wants: whether to read the body, by status and headers.
        credentials: name of the file with credentials. They are not sent after a redirect.
        credentials_for: address of the feed, to whose scheme, host and port they are sent.
        is_source: whether the request is for a feed. A single 503 then rests the feed alone: it
            often comes from the program that makes the feed, and not from the host.
        page: address of the page in its feed; None if the request is not for a page.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int
    cut: bool = False
    wants: WantsBody = want_every_body
    credentials: str | None = None
    credentials_for: str | None = None
    is_source: bool = False
    page: str | None = None


class HostClient:
    """Sender of single requests; it updates the states of their hosts.

    Args:
        settings: settings of the job.
        client: HTTP client.
        gate: gate that lets only requests through that the rules allow.
        hosts: states of the hosts.
        stage: actions of the stage, used to check that a host still belongs to this worker.
        metrics: metrics of the worker.
        clock: returns seconds since 1970.

    Attributes:
        now: returns seconds since 1970.
        politeness: limits on the request rate of a host.
        waiting: number of requests that wait for the limits of domain, address or worker.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        settings: Settings,
        client: WebClient,
        gate: RequestGate,
        hosts: Hosts,
        stage: FetchStage,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._gate = gate
        self._hosts = hosts
        self._stage = stage
        self._metrics = metrics
        self._domains = DomainGate(
            SharedLimits(settings.requests_per_domain, settings.requests_per_domain_second)
        )
        self._slots = asyncio.Semaphore(settings.fetches_at_once)
        self.now = clock
        self.politeness = settings.politeness
        self.waiting = 0

    def state(self, job: HostJob) -> HostState:
        """Return the state of the host that the job asks next."""
        return self._hosts.get(job.partition, job.domain, job.host)

    def rules(self, job: HostJob) -> Robots | None:
        """Return the robots.txt of the job's host and scheme; None if it must be requested."""
        return self._hosts.robots(job.partition, self.state(job), job.scheme, self.now())

    async def get(self, job: HostJob, ask: Ask) -> Response | WebError:
        """Send the job's next request, and store what the response changes in the host's state.

        Raises:
            PartitionLostError: the host belongs to another worker now.
        """
        began = self.now()
        result = await self.get_url(job, job.target, ask)
        rules = self.rules(job)
        counted = result
        if ask.is_source and isinstance(result, Response) and result.status == _UNAVAILABLE:
            counted = replace(result, status=_UNAVAILABLE - 1)
        delay = None if rules is None else rules.crawl_delay
        state = self.after(job, counted, began, delay, ask.page)
        await self.keep(job, state)
        return result

    async def get_url(self, job: HostJob, url: str, ask: Ask) -> Response | WebError:
        """Send a request to an address of the job's host; change no state.

        Raises:
            PartitionLostError: the host belongs to another worker now.
            StoppedError: a rule of the operator forbids the request.
        """
        credentials = None if job.redirects else ask.credentials

        async def request() -> Response:
            return await self._client.get(
                url,
                ask.headers,
                max_bytes=ask.max_bytes,
                wants=ask.wants,
                cut=ask.cut,
                cookies=job.cookies,
                credentials=credentials,
                credentials_for=ask.credentials_for,
            )

        async with self._turn(job, url):
            if not await self._gate.admit(lambda: self._stage.is_mine(job)):
                raise PartitionLostError
            self._stage.report_progress()
            job.note_request(url)
            try:
                return await self._gate.send(url, self._stage.page_of(job), request)
            except WebError as error:
                return error

    @asynccontextmanager
    async def _turn(self, job: HostJob, url: str) -> AsyncIterator[None]:
        """Wait until the limits of the domain, of the address and of the worker allow a request."""
        self.waiting += 1
        is_waiting = True
        try:
            async with (
                self._domains.slot(icann_domain(urlsplit(url).hostname or job.host)) as slot,
                self._client.slot(url),
                self._slots,
            ):
                await slot.begin()
                self.waiting -= 1
                is_waiting = False
                yield
        finally:
            self.waiting -= is_waiting

    def after(
        self,
        job: HostJob,
        result: Response | WebError,
        began: float,
        crawl_delay: float | None,
        page: str | None = None,
    ) -> HostState:
        """Return the state of the job's host after a request.

        Args:
            job: the job.
            result: result of the request.
            began: time at which the request began, seconds since 1970.
            crawl_delay: seconds between requests that the host's robots.txt asks for.
            page: address of the page in its feed; None if the request was not for a page.
        """
        state = self.state(job)
        if isinstance(result, WebError) and result.trouble is Trouble.CREDENTIALS:
            return state  # no request was sent
        now = self.now()
        return update_after_response(
            state,
            result,
            now,
            self.politeness,
            retry_after=None if isinstance(result, WebError) else retry_after(result.headers, now),
            crawl_delay=crawl_delay,
            took=max(0.0, now - began),
            page=page,
            scheme=job.scheme,
            is_wall=_is_refusing_wall(result),
        )

    async def keep(self, job: HostJob, state: HostState) -> None:
        """Store the state of the job's host.

        Raises:
            PartitionLostError: the host belongs to another worker now.
        """
        if not await self._stage.is_mine(job):
            raise PartitionLostError
        await self._hosts.put(job.partition, job.domain, state, self.now(), job.work)

    def seconds_each(self, job: HostJob) -> float:
        """Return the seconds that a request to the job's host takes, with the pause after it."""
        state, rules = self.state(job), self.rules(job)
        delay = None if rules is None else rules.crawl_delay
        return state.latency + self.politeness.after(state.latency, delay)


def _is_refusing_wall(result: Response | WebError) -> bool:
    if isinstance(result, WebError) or result.status != _FORBIDDEN:
        return False
    return find_wall(result.status, result.headers, result.body) is not None
