"""Pages whose text comes from their feed, and the comparison of both.

    content: feed   no request: the HTML of the item is published
    content: auto   the page is fetched, and a report says how much of it the item covers

The decisions are in `urltree.crawl.decisions.full_text`.
"""

from __future__ import annotations

from dataclasses import replace

from agents.fetching.page_request import page_from_feed
from models.crawl.fetch import FetchRequest
from urltree.crawl.decisions.full_text import compare_content, page_of_item
from urltree.crawl.decisions.host.page_response import format_rfc3339
from urltree.crawl.decisions.poll.answer import PageReport
from urltree.crawl.decisions.poll.source_options import Content
from urltree.page import Page, PageError
from urltree.reading.admission import admit


def is_from_feed(fetch: FetchRequest) -> bool:
    """Return whether the page is published as its feed contains it, without a request."""
    return fetch.content is Content.FEED and fetch.feed_content is not None


def feed_page(fetch: FetchRequest, now: float, max_bytes: int) -> Page:
    """Return the page that the feed contains.

    Args:
        fetch: the page, with `feed_content`.
        now: current time, seconds since 1970.
        max_bytes: largest size of a page.

    Raises:
        PageError: the page is refused as empty or too-large.
    """
    html = page_of_item(fetch.title, fetch.feed_content or "")
    page = replace(
        page_from_feed(fetch),
        html=html.encode(errors="replace"),
        content_type="text/html; charset=utf-8",
        fetched_at=format_rfc3339(now),
        content_from="feed",
    )
    admit(page, max_bytes)
    return page


def coverage_report(fetch: FetchRequest, page: Page, now: float) -> PageReport | None:
    """Return a report with the share of a fetched page that its feed covers.

    Return None if the page is not to be compared, or cannot be read.
    """
    if fetch.content is not Content.AUTO or fetch.feed_content is None:
        return None
    if fetch.site is None or fetch.feed is None:
        return None
    try:
        full = page_of_item(fetch.title, fetch.feed_content)
        share = compare_content(page.html, page.content_type, full)
    except PageError:
        return None
    return PageReport(site=fetch.site, feed=fetch.feed, at=now, coverage=(share,))
