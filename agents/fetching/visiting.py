"""One turn of a host: a request for its robots.txt, or for a page that it allows.

    robots.txt known? ──no──▶ ask it, the page comes with the host's next turn
          │ yes
    allowed? ──no──▶ dead letter
          │ yes
    ask the page ──▶ what the host is like now ──▶ page, redirect, fault, or come again

Decides nothing: `urltree.crawl.decisions.host.host`, `.robots` and `.landing` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.fetching.hosts import Hosts
from agents.fetching.jobs import Job, Outlet
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from models.fetch import FetchRequest
from urltree.crawl.decisions.answer import Answer, Trouble, WebError
from urltree.crawl.decisions.durations import DAY
from urltree.crawl.decisions.host import landing, robots
from urltree.crawl.decisions.host.host import HostState, RobotsText, after, after_robots
from urltree.crawl.decisions.host.landing import ComeAgainError, WallError
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.poll.caching import retry_after
from urltree.crawl.web.client import Client, Wants, always
from urltree.crawl.web.redirects import target
from urltree.page import Page, PageError, Reason, microseconds

_MAX_ROBOTS = 8 * robots.MAX_BYTES  # what is longer is no robots.txt; of this, a part is read


class NotOursError(Exception):
    """The page's partition is another worker's by now."""


class Visiting:
    """Asks hosts, one request a visit.

    Args:
        settings: of the job.
        client: to ask with.
        hosts: what is known of them.
        outlet: says whether a page is still this worker's.
        metrics: counted here.
        clock: seconds since 1970.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        settings: Settings,
        client: Client,
        hosts: Hosts,
        outlet: Outlet,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._client = client
        self._hosts = hosts
        self._metrics = metrics
        self._clock = clock
        self._outlet = outlet
        self.politeness = settings.politeness

    async def visit(self, job: Job) -> Page | str | None:
        """Make one request for a job, or none where it is forbidden.

        Returns:
            The page; or the address that it was redirected to; or None: its robots.txt was asked.

        Raises:
            PageError: it is final.
            ComeAgainError: it is not.
            NotOursError: nothing is to become of it here.
        """
        state = self._hosts.get(job.partition, job.domain, job.host)
        rules = self._hosts.robots(job.partition, state, job.scheme, self._clock())
        if rules is None:
            await self._ask_robots(job, state)
            return None
        if not rules.allows(job.fetch.target):
            raise PageError(Reason.ROBOTS, f"robots.txt of {state.host} forbids it")
        began = self._clock()
        came = await self._get(
            job,
            job.fetch.target,
            landing.HEADERS,
            self._settings.max_page_bytes,
            landing.wants,
        )
        now = self._clock()
        asked = None if isinstance(came, WebError) else retry_after(came.headers, now)
        changed = after(
            state,
            came,
            now,
            self.politeness,
            retry_after=asked,
            crawl_delay=rules.crawl_delay,
            took=now - began,
        )
        await self._keep(job, changed, now)
        return self._landed(job, came, now)

    def seconds_each(self, job: Job) -> float:
        """Seconds that a page of this host takes, its pause included."""
        state = self._hosts.get(job.partition, job.domain, job.host)
        rules = self._hosts.robots(job.partition, state, job.scheme, self._clock())
        delay = None if rules is None else rules.crawl_delay
        return state.latency + self.politeness.after(state.latency, delay)

    def _landed(self, job: Job, came: Answer | WebError, now: float) -> Page | str:
        try:
            if isinstance(came, WebError):
                raise came
            landing.check(came)
            if came.is_redirect:
                return target(came)
            return landing.page(came, _told(job.fetch), now, self._settings.max_page_bytes)
        except WebError as error:
            self._metrics.fetch_troubles.labels(error.trouble).inc()
            raise landing.of_trouble(error) from error
        except WallError as error:
            self._metrics.walls.labels(error.wall).inc()
            raise

    async def _get(
        self, job: Job, url: str, headers: Mapping[str, str], max_bytes: int, wants: Wants
    ) -> Answer | WebError:
        if not await self._outlet.is_mine(job):
            raise NotOursError
        self._outlet.moved()
        try:
            return await self._client.get(url, headers, max_bytes=max_bytes, wants=wants)
        except WebError as error:
            return error

    async def _ask_robots(self, job: Job, state: HostState) -> None:
        came = await self._follow_robots(job)
        now = self._clock()
        found = robots.read(came, now + self._settings.robots_days * DAY)
        if isinstance(found, RobotsText):
            delay = Robots(found).crawl_delay
            changed = after(state, came, now, self.politeness, crawl_delay=delay)
            await self._keep(job, after_robots(changed, job.scheme, found, now), now)
            return
        if isinstance(came, WebError):
            self._metrics.fetch_troubles.labels(came.trouble).inc()
            if came.trouble is Trouble.REFUSED_ADDRESS:
                raise landing.of_trouble(came)
        await self._keep(job, after_robots(state, job.scheme, found, now), now)
        reason = Reason.UNREACHABLE if isinstance(came, WebError) else Reason.ROBOTS
        raise ComeAgainError(f"robots.txt: {found}", reason)

    async def _follow_robots(self, job: Job) -> Answer | WebError:
        url = robots.address(job.fetch.target)
        for _ in range(robots.MAX_REDIRECTS + 1):
            self._metrics.robots_fetches.inc()
            came = await self._get(job, url, {}, _MAX_ROBOTS, always)
            if isinstance(came, WebError) or not came.is_redirect:
                return came
            try:
                url = target(came)
            except WebError as error:
                return error
        return WebError(Trouble.REDIRECT, f"more than {robots.MAX_REDIRECTS} redirects")

    async def _keep(self, job: Job, state: HostState, now: float) -> None:
        if not await self._outlet.is_mine(job):
            raise NotOursError
        await self._hosts.put(job.partition, job.domain, state, now, job.work)


def _told(fetch: FetchRequest) -> Page:
    """What a page's feed says of it."""
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
    """A time that readers of raw-html take; a page is not lost for its feed's calendar."""
    try:
        microseconds(stamp or "")
    except ValueError:
        return None
    return stamp
