"""One request for a page that robots.txt allows, and what its response means.

    allowed? ──no──▶ dead letter
          │ yes
    request the page ──▶ page, redirect, final error, or retry

The decisions are in `urltree.crawl.decisions.host`: `robots`, `page_response`.
"""

from __future__ import annotations

from agents.fetching.host_client import Ask, HostClient
from agents.fetching.jobs import PageJob
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from models.fetch import FetchRequest
from urltree.crawl.decisions.host import page_response
from urltree.crawl.decisions.host.page_response import WallError
from urltree.crawl.decisions.host.robots import Robots
from urltree.crawl.decisions.response import Response, WebError
from urltree.crawl.web.redirects import redirect_target
from urltree.page import Page, PageError, Reason, microseconds


class PageRequester:
    """Requester of single pages.

    Args:
        settings: settings of the job.
        client: sender of requests.
        metrics: metrics of the worker.
    """

    def __init__(self, settings: Settings, client: HostClient, metrics: Metrics) -> None:
        self._max_bytes = settings.max_page_bytes
        self._client = client
        self._metrics = metrics

    async def request(self, job: PageJob, rules: Robots) -> Page | str:
        """Request a page.

        Args:
            job: the page.
            rules: robots.txt of its host.

        Returns:
            The page, or the address to which it was redirected.

        Raises:
            PageError: robots.txt forbids the page, or a retry of the request would fail, too.
            TryLaterError: the request may succeed later.
            PartitionLostError: the page must not be processed further in this worker.
        """
        check_robots(rules, job.target, job.host)
        ask = Ask(
            headers=page_response.REQUEST_HEADERS,
            max_bytes=self._max_bytes,
            wants=page_response.wants_body,
            credentials=job.fetch.credentials,
            credentials_for=job.fetch.feed,
        )
        result = await self._client.get(job, ask)
        try:
            if isinstance(result, WebError):
                raise result
            return self._interpret(job, result)
        except WebError as error:
            self._metrics.fetch_troubles.labels(error.trouble).inc()
            raise page_response.error_for_trouble(error) from error
        except WallError as error:
            self._metrics.walls.labels(error.wall).inc()
            raise

    def _interpret(self, job: PageJob, response: Response) -> Page | str:
        page_response.check_response(response)
        if response.is_redirect:
            return redirect_target(response)
        return page_response.make_page(
            response, page_from_feed(job.fetch), self._client.now(), self._max_bytes
        )


def check_robots(rules: Robots, url: str, host: str) -> None:
    """Refuse an address that robots.txt forbids.

    Raises:
        PageError: with the reason `robots`.
    """
    if not rules.allows(url):
        raise PageError(Reason.ROBOTS, f"robots.txt of host {host} does not allow this page")


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
