"""The requests of a worker to hosts: the only place of the job that sends requests to the web.

    is the host ours? ──▶ request ──▶ update the host's state ──▶ response or error

Pages, sources and files such as robots.txt share the state of their host: its pause, its
Crawl-delay, and its back-off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchStage, HostJob
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from urltree.crawl.decisions.caching import retry_after
from urltree.crawl.decisions.host.host_state import HostState, update_after_response
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.response import Response, WebError
from urltree.crawl.web.client import WantsBody, WebClient, want_every_body

_UNAVAILABLE = 503


class PartitionLostError(Exception):
    """The partition of the record belongs to another worker now."""


class HostClient:
    """Sender of single requests; it updates the states of their hosts.

    Args:
        settings: settings of the job.
        client: HTTP client.
        hosts: states of the hosts.
        stage: actions of the stage, used to check that a host still belongs to this worker.
        metrics: metrics of the worker.
        clock: returns seconds since 1970.

    Attributes:
        now: returns seconds since 1970.
        politeness: limits on the request rate of a host.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        settings: Settings,
        client: WebClient,
        hosts: Hosts,
        stage: FetchStage,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._hosts = hosts
        self._stage = stage
        self._metrics = metrics
        self.now = clock
        self.politeness = settings.politeness

    def state(self, job: HostJob) -> HostState:
        """Return the state of the host that the job asks next."""
        return self._hosts.get(job.partition, job.domain, job.host)

    def rules(self, job: HostJob) -> Robots | None:
        """Return the robots.txt of the job's host and scheme; None if it must be requested."""
        return self._hosts.robots(job.partition, self.state(job), job.scheme, self.now())

    async def get(
        self,
        job: HostJob,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: WantsBody = want_every_body,
        *,
        is_source: bool = False,
    ) -> Response | WebError:
        """Send the job's next request, and store what the response changes in the host's state.

        Args:
            job: job with the address.
            headers: header fields of the request.
            max_bytes: largest size of the body.
            wants: whether to read the body, by status and headers.
            is_source: whether the request is for a feed. A single 503 then rests the feed alone:
                it often comes from the program that makes the feed, and not from the host.

        Raises:
            PartitionLostError: the host belongs to another worker now.
        """
        began = self.now()
        result = await self.get_url(job, job.target, headers, max_bytes, wants)
        rules = self.rules(job)
        counted = result
        if is_source and isinstance(result, Response) and result.status == _UNAVAILABLE:
            counted = replace(result, status=_UNAVAILABLE - 1)
        await self.keep(
            job,
            self.after(
                self.state(job), counted, began, None if rules is None else rules.crawl_delay
            ),
        )
        return result

    async def get_url(
        self,
        job: HostJob,
        url: str,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: WantsBody = want_every_body,
    ) -> Response | WebError:
        """Send a request to an address of the job's host; change no state.

        Raises:
            PartitionLostError: the host belongs to another worker now.
        """
        if not await self._stage.is_mine(job):
            raise PartitionLostError
        self._stage.report_progress()
        try:
            return await self._client.get(url, headers, max_bytes=max_bytes, wants=wants)
        except WebError as error:
            return error

    def after(
        self,
        state: HostState,
        result: Response | WebError,
        began: float,
        crawl_delay: float | None,
    ) -> HostState:
        """Return the state of a host after a request that began at a time."""
        now = self.now()
        return update_after_response(
            state,
            result,
            now,
            self.politeness,
            retry_after=None if isinstance(result, WebError) else retry_after(result.headers, now),
            crawl_delay=crawl_delay,
            took=max(0.0, now - began),
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
