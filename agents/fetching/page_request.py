"""One request for a page that robots.txt allows, and what its response means.

    allowed? ──no──▶ dead letter
       │ yes
    held? ──▶ still held, or a wall: no request
       │ no
    request the page ──▶ page, redirect, unchanged, final error, or retry
                           └─▶ published, held, or a wall (`page_checks.py`)

The decisions are in `urltree.crawl.decisions.host`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.fetching.host_client import Ask, HostClient
from agents.fetching.jobs import PageJob
from agents.fetching.page_checks import PageChecks
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from models.crawl.fetch import FetchRequest
from urltree.crawl.decisions.host import page_response
from urltree.crawl.decisions.host.host_state import RobotsText, update_after_tdmrep
from urltree.crawl.decisions.host.page.page_ends import PageRuling, Ruling, describe_end
from urltree.crawl.decisions.host.page.refresh import find_refresh
from urltree.crawl.decisions.host.page.reservations import (
    Signal,
    find_reservation,
    parse_tdmrep,
    tdmrep_url,
)
from urltree.crawl.decisions.host.page.validators import (
    PageValidators,
    is_unchanged,
    read_validators,
    revisit_headers,
)
from urltree.crawl.decisions.host.page.visible_text import PageText
from urltree.crawl.decisions.host.page_response import WallError
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.response import Response, WebError
from urltree.crawl.decisions.timing import DAY
from urltree.crawl.web.redirects import redirect_target
from urltree.page import Page, PageError, Reason, microseconds

_MAX_TDMREP = 256 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that may be published.

    Attributes:
        page: the page.
        validators: validators to store when raw-html has confirmed the page; None without any.
    """

    page: Page
    validators: PageValidators | None


@dataclass(frozen=True, slots=True)
class Redirect:
    """The address to which a page was redirected."""

    url: str


@dataclass(frozen=True, slots=True)
class Held:
    """The page may be a wall: it waits until this time, in seconds since 1970."""

    until: float


class Unchanged:
    """The page has not changed since it was fetched before."""


class Restarted:
    """A held page may be published: its chain of redirects begins again."""


PageResult = FetchedPage | Redirect | Held | Unchanged | Restarted


class PageRequester:
    """Requester of single pages.

    Args:
        settings: settings of the job.
        client: sender of requests.
        checks: what is remembered about pages.
        metrics: metrics of the worker.
    """

    def __init__(
        self, settings: Settings, client: HostClient, checks: PageChecks, metrics: Metrics
    ) -> None:
        self._max_bytes = settings.max_page_bytes
        self._obeyed = settings.obey_signals
        self._has_revisits = settings.revisits == "replace"
        self._client = client
        self._checks = checks
        self._metrics = metrics

    async def request(self, job: PageJob, rules: Robots) -> PageResult | None:
        """Request a page.

        Args:
            job: the page.
            rules: robots.txt of its host.

        Returns:
            The result; None if tdmrep.json was requested instead.

        Raises:
            PageError: robots.txt forbids the page, or a retry of the request would fail, too.
            TryLaterError: the request may succeed later.
            PartitionLostError: the page must not be processed further in this worker.
        """
        check_robots(rules, job.target, job.host)
        try:
            if job.fetch.held_since is not None and not job.is_released:
                ruling = self._checks.judge_held(job, job.fetch.held_since)
                if ruling.ruling is not Ruling.PUBLISH:
                    return _held(ruling)
                job.is_released = True
                if job.restart():
                    return Restarted()
            if Signal.TDM in self._obeyed and await self._ask_tdmrep(job):
                return None
            sent = self._conditions(job)
            ask = Ask(
                headers={**page_response.REQUEST_HEADERS, **sent},
                max_bytes=self._max_bytes,
                wants=page_response.wants_body,
                credentials=job.fetch.credentials,
                credentials_for=job.fetch.feed,
                page=job.fetch.url,
            )
            result = await self._client.get(job, ask)
            if isinstance(result, WebError):
                raise result
            return await self._interpret(job, result, sent)
        except WebError as error:
            self._metrics.fetch_troubles.labels(error.trouble).inc()
            raise page_response.error_for_trouble(error) from error
        except WallError as error:
            self._metrics.walls.labels(error.wall).inc()
            raise

    def _conditions(self, job: PageJob) -> dict[str, str]:
        if not job.fetch.is_revisit:
            return {}
        return revisit_headers(self._checks.validators(job), self._client.now())

    async def _interpret(
        self, job: PageJob, response: Response, sent: Mapping[str, str]
    ) -> PageResult:
        fetch, now = job.fetch, self._client.now()
        if is_unchanged(response.status, sent):
            return Unchanged()
        page_response.check_response(response)
        if response.is_redirect:
            return Redirect(redirect_target(response))
        refreshed = find_refresh(response)
        if refreshed is not None and refreshed != job.target:
            return Redirect(refreshed)
        page = page_response.make_page(response, page_from_feed(fetch), now, self._max_bytes)
        self._check_reservation(job, response)
        text = PageText(
            response.body, fetch.url, response.url, response.headers.get("content-type")
        )
        end = describe_end(fetch.url, response.url, text, fetch.title)
        ruling = await self._checks.judge(job, end, fetch.held_since)
        if ruling.ruling is not Ruling.PUBLISH:
            return _held(ruling)
        validators = read_validators(response.headers, now) if self._has_revisits else None
        return FetchedPage(page, validators)

    def _check_reservation(self, job: PageJob, response: Response) -> None:
        if not self._obeyed:
            return
        file = self._client.state(job).tdmrep_at(job.scheme, self._client.now())
        rules = parse_tdmrep(file.body) if file is not None and file.body else ()
        found = find_reservation(self._obeyed, response.headers, response.body, response.url, rules)
        if found is not None:
            raise PageError(Reason.RESERVED, f"the publisher reserves the page: {found}")

    async def _ask_tdmrep(self, job: PageJob) -> bool:
        """Request the tdmrep.json of the page's host, unless it is known."""
        now = self._client.now()
        if self._client.state(job).tdmrep_at(job.scheme, now) is not None:
            return False
        ask = Ask(max_bytes=_MAX_TDMREP, cut=True)
        result = await self._client.get_url(job, tdmrep_url(job.target), ask)
        if isinstance(result, WebError):
            found = RobotsText(503, now + DAY)
        else:
            body = result.body.decode(errors="replace") if result.status == 200 else ""
            found = RobotsText(result.status, now + DAY, body)
        state = self._client.after(job, result, now, None)
        await self._client.keep(job, update_after_tdmrep(state, job.scheme, found))
        return True


def check_robots(rules: Robots, url: str, host: str) -> None:
    """Refuse an address that robots.txt forbids.

    Raises:
        PageError: with the reason `robots`.
    """
    if not rules.allows(url):
        raise PageError(Reason.ROBOTS, f"robots.txt of host {host} does not allow this page")


def _held(ruling: PageRuling) -> Held:
    """Return the wait of a held page.

    Raises:
        WallError: the page is a wall.
    """
    if ruling.ruling is Ruling.WALL:
        raise WallError(ruling.wall or "wall", 200, ruling.message)
    return Held(ruling.until or 0.0)


def page_from_feed(fetch: FetchRequest) -> Page:
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
