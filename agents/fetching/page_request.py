"""One request to a host: for its robots.txt, or for a page that its robots.txt allows.

    robots.txt known? ──no──▶ request it; the host's next request is for the page
          │ yes
    allowed? ──no──▶ dead letter
          │ yes
    request the page ──▶ update the host's state ──▶ page, redirect, final error, or retry

The decisions are in `urltree.crawl.decisions.host`: `host_state`, `robots`, `page_response`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import FetchJob, FetchStage
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from models.fetch import FetchRequest
from urltree.crawl.decisions.caching import retry_after
from urltree.crawl.decisions.host import page_response, robots
from urltree.crawl.decisions.host.host_state import (
    HostState,
    RobotsText,
    update_after_response,
    update_after_robots,
)
from urltree.crawl.decisions.host.page_response import TryLaterError, WallError
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.decisions.timing import DAY
from urltree.crawl.web.client import WantsBody, WebClient, want_every_body
from urltree.crawl.web.redirects import redirect_target
from urltree.page import Page, PageError, Reason, microseconds

_MAX_ROBOTS = 8 * robots.MAX_BYTES  # download limit; only the first MAX_BYTES are parsed


class PartitionLostError(Exception):
    """The partition of the page belongs to another worker now."""


class PageRequester:
    """Requester of single pages and robots.txt files; it updates the states of their hosts.

    Args:
        settings: settings of the job.
        client: HTTP client.
        hosts: states of the hosts.
        stage: actions of the stage, used to check that a page still belongs to this worker.
        metrics: metrics of the worker.
        clock: returns seconds since 1970.
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
        self._settings = settings
        self._client = client
        self._hosts = hosts
        self._metrics = metrics
        self._clock = clock
        self._stage = stage
        self.politeness = settings.politeness

    async def request(self, job: FetchJob) -> Page | str | None:
        """Request a page, or its host's robots.txt if the worker does not have this file.

        Returns:
            The page; or the address to which the page was redirected; or None if the request was
            for robots.txt.

        Raises:
            PageError: robots.txt forbids the page, or a retry of the request would fail, too.
            TryLaterError: the request may succeed later.
            PartitionLostError: the page must not be processed further in this worker.
        """
        state = self._hosts.get(job.partition, job.domain, job.host)
        rules = self._hosts.robots(job.partition, state, job.scheme, self._clock())
        if rules is None:
            await self._ask_robots(job, state)
            return None
        if not rules.allows(job.fetch.target):
            raise PageError(
                Reason.ROBOTS, f"robots.txt of host {state.host} does not allow this page"
            )
        began = self._clock()
        result = await self._get(
            job,
            job.fetch.target,
            page_response.REQUEST_HEADERS,
            self._settings.max_page_bytes,
            page_response.wants_body,
        )
        now = self._clock()
        asked = None if isinstance(result, WebError) else retry_after(result.headers, now)
        changed = update_after_response(
            state,
            result,
            now,
            self.politeness,
            retry_after=asked,
            crawl_delay=rules.crawl_delay,
            took=now - began,
        )
        await self._keep(job, changed, now)
        return self._interpret(job, result, now)

    def seconds_each(self, job: FetchJob) -> float:
        """Return the seconds that a page of this job's host takes, including the pause after it."""
        state = self._hosts.get(job.partition, job.domain, job.host)
        rules = self._hosts.robots(job.partition, state, job.scheme, self._clock())
        delay = None if rules is None else rules.crawl_delay
        return state.latency + self.politeness.after(state.latency, delay)

    def _interpret(self, job: FetchJob, result: Response | WebError, now: float) -> Page | str:
        try:
            if isinstance(result, WebError):
                raise result
            page_response.check_response(result)
            if result.is_redirect:
                return redirect_target(result)
            return page_response.make_page(
                result, _page_from_feed(job.fetch), now, self._settings.max_page_bytes
            )
        except WebError as error:
            self._metrics.fetch_troubles.labels(error.trouble).inc()
            raise page_response.error_for_trouble(error) from error
        except WallError as error:
            self._metrics.walls.labels(error.wall).inc()
            raise

    async def _get(
        self, job: FetchJob, url: str, headers: Mapping[str, str], max_bytes: int, wants: WantsBody
    ) -> Response | WebError:
        if not await self._stage.is_mine(job):
            raise PartitionLostError
        self._stage.report_progress()
        try:
            return await self._client.get(url, headers, max_bytes=max_bytes, wants=wants)
        except WebError as error:
            return error

    async def _ask_robots(self, job: FetchJob, state: HostState) -> None:
        result = await self._follow_robots(job)
        now = self._clock()
        found = robots.interpret_robots(result, now + self._settings.robots_days * DAY)
        if isinstance(found, RobotsText):
            delay = Robots(found).crawl_delay
            changed = update_after_response(state, result, now, self.politeness, crawl_delay=delay)
            await self._keep(job, update_after_robots(changed, job.scheme, found, now), now)
            return
        if isinstance(result, WebError):
            self._metrics.fetch_troubles.labels(result.trouble).inc()
            if result.trouble is Trouble.REFUSED_ADDRESS:
                raise page_response.error_for_trouble(result)
        await self._keep(job, update_after_robots(state, job.scheme, found, now), now)
        reason = Reason.UNREACHABLE if isinstance(result, WebError) else Reason.ROBOTS
        raise TryLaterError(f"robots.txt: {found}", reason)

    async def _follow_robots(self, job: FetchJob) -> Response | WebError:
        url = robots.robots_url(job.fetch.target)
        for _ in range(robots.MAX_REDIRECTS + 1):
            self._metrics.robots_fetches.inc()
            result = await self._get(job, url, {}, _MAX_ROBOTS, want_every_body)
            if isinstance(result, WebError) or not result.is_redirect:
                return result
            try:
                url = redirect_target(result)
            except WebError as error:
                return error
        return WebError(
            Trouble.REDIRECT,
            f"the request was redirected more than {robots.MAX_REDIRECTS} times",
        )

    async def _keep(self, job: FetchJob, state: HostState, now: float) -> None:
        if not await self._stage.is_mine(job):
            raise PartitionLostError
        await self._hosts.put(job.partition, job.domain, state, now, job.work)


def _page_from_feed(fetch: FetchRequest) -> Page:
    """Return a page with the fields from its feed, without HTML."""
    return Page(
        url=fetch.url,
        html=b"",
        title=fetch.title,
        description=fetch.description,
        published=_time(fetch.published),
        redirects=fetch.redirects,
        feed=fetch.feed,
        meta=fetch.meta,
    )


def _time(stamp: str | None) -> str | None:
    """Return the publication time, or None if readers of raw-html would refuse it.

    A page is published without a time if its feed contains an invalid one.
    """
    try:
        microseconds(stamp or "")
    except ValueError:
        return None
    return stamp
