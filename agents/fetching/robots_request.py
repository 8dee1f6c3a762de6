"""The robots.txt of a host: one request a turn, also to other hosts after a redirect.

    robots.txt ──▶ same host      the next turn of this host
               ├─▶ another host   a record of requests; its owner asks, and sends the file back
               └─▶ the file       stored in the host's state

A host is asked for nothing else while another owner is asked for its robots.txt.
"""

from __future__ import annotations

from agents.fetching.host_client import Ask, HostClient, PartitionLostError
from agents.fetching.jobs import FetchStage, HostJob, SmallJob, host_of
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from models.crawl.host_request import HostRequest, Purpose
from urltree.crawl.decisions.host import page_response, robots
from urltree.crawl.decisions.host.host_state import RobotsText, update_after_robots
from urltree.crawl.decisions.host.page_response import TryLaterError
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.decisions.timing import DAY
from urltree.crawl.web.redirects import redirect_target
from urltree.page import PageError, Reason

_FILE = Ask(max_bytes=robots.MAX_BYTES, cut=True)
_ANSWER = 45.0  # seconds after which the file is asked for again; shorter than park_seconds


class AskedElsewhereError(Exception):
    """Another owner is asked for the file.

    Args:
        until: time until which the host waits for the answer, in seconds since 1970.
    """

    def __init__(self, until: float) -> None:
        super().__init__(until)
        self.until = until


class RobotsRequester:
    """Requester of robots.txt files.

    Args:
        settings: settings of the job.
        client: sender of requests.
        stage: actions of the stage.
        metrics: metrics of the worker.
    """

    def __init__(
        self, settings: Settings, client: HostClient, stage: FetchStage, metrics: Metrics
    ) -> None:
        self._days = settings.robots_days
        self._client = client
        self._stage = stage
        self._metrics = metrics

    async def ask(self, job: HostJob) -> None:
        """Send one request for the robots.txt of the job's host, and store what it gives.

        Raises:
            TryLaterError: the host did not give the file; none of its pages may be requested.
            AskedElsewhereError: the file was redirected to another host, whose owner is asked.
            PageError: the file is at a private address.
        """
        client, chain = self._client, job.files
        url = chain[-1] if chain else robots.robots_url(job.target)
        self._metrics.robots_fetches.inc()
        began = client.now()
        result = await client.get_url(job, url, _FILE)
        target = _next_hop(result, chain)
        if isinstance(target, WebError):
            result = target
        elif target is not None:
            await client.keep(job, client.after(job, result, began, None))
            if host_of(target) == job.host:
                job.files = (*chain, target)
                return
            job.files = ()
            now = client.now()
            request = HostRequest(
                purpose=Purpose.FILE,
                url=robots.robots_url(job.target),
                redirects=(*chain, target),
                asked_at=now,
            )
            await self._stage.ask(job, request, self._stage.domain_of(target))
            raise AskedElsewhereError(now + _ANSWER)
        job.files = ()
        await self._store(job, result, began)

    async def serve(self, job: SmallJob) -> str | None:
        """Send one request for the robots.txt of another host.

        Returns:
            The address to which the file was redirected; None if its answer was sent.
        """
        result = await self._client.get(job, _FILE)
        target = _next_hop(result, job.redirects)
        if isinstance(target, str):
            return target
        await self.answer(job, robots.interpret_robots(target or result, 0.0))
        return None

    async def answer(self, job: SmallJob, found: RobotsText | str) -> None:
        """Send the robots.txt, or why there is none, to the owner of the host that redirected it.

        Without an answer the pages of that host would wait, and its file would be asked for again.

        Raises:
            PartitionLostError: the host belongs to another worker now.
        """
        if not await self._stage.is_mine(job):
            raise PartitionLostError
        request = HostRequest(
            purpose=Purpose.FILE_ANSWER,
            url=job.request.url,
            asked_at=self._client.now(),
            status=found.status if isinstance(found, RobotsText) else None,
            body=found.body if isinstance(found, RobotsText) else None,
            message=None if isinstance(found, RobotsText) else found,
        )
        await self._stage.ask(job, request, self._stage.domain_of(job.request.url))

    async def receive(self, job: SmallJob) -> None:
        """Store the robots.txt that another owner has sent."""
        answer, now = job.request, self._client.now()
        found: RobotsText | str
        if answer.status is not None:
            found = RobotsText(answer.status, now + self._days * DAY, answer.body or "")
        else:
            found = answer.message or "no answer"
        state = update_after_robots(self._client.state(job), job.scheme, found, now)
        await self._client.keep(job, state)

    async def _store(self, job: HostJob, result: Response | WebError, began: float) -> None:
        client, now, scheme = self._client, self._client.now(), job.scheme
        found = robots.interpret_robots(result, now + self._days * DAY)
        state = client.state(job)
        if isinstance(found, RobotsText):
            if isinstance(result, Response):
                delay = Robots(found).crawl_delay
                state = client.after(job, result, began, delay)
            await client.keep(job, update_after_robots(state, scheme, found, now))
            return
        if isinstance(result, WebError):
            self._metrics.fetch_troubles.labels(result.trouble).inc()
            if result.trouble is Trouble.REFUSED_ADDRESS:
                raise page_response.error_for_trouble(result)
        if isinstance(result, WebError) and result.trouble is Trouble.TLS:
            state = client.after(job, result, began, None)  # the other scheme may work
        else:
            state = update_after_robots(state, scheme, found, now)
        await client.keep(job, state)
        reason = Reason.UNREACHABLE if isinstance(result, WebError) else Reason.ROBOTS
        raise TryLaterError(f"robots.txt: {found}", reason)


def _next_hop(result: Response | WebError, chain: tuple[str, ...]) -> str | WebError | None:
    """Return the target of a redirect, the error of a bad one, or None if it is no redirect."""
    if isinstance(result, WebError) or not result.is_redirect:
        return None
    if len(chain) >= robots.MAX_REDIRECTS:
        return WebError(
            Trouble.REDIRECT,
            f"the request was redirected more than {robots.MAX_REDIRECTS} times",
        )
    try:
        target = redirect_target(result)
        host_of(target)
    except WebError as error:
        return error
    except PageError as error:
        return WebError(Trouble.REDIRECT, error.message)
    return target
