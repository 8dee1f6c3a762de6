"""The answer to the request for a source, and reports about the pages of a source.

    poll ──request──▶ owner of the host ──answer in parts──▶ poll
                              └──────────report────────────▶ poll

The owner of the host sends the request over HTTP and parses the body. Which items are new is
decided where the answer is read, because only the owner of the source has the table `seen_items`.
"""

from __future__ import annotations

from dataclasses import dataclass

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.outcome import PollOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapChild:
    """A sitemap that the index of a site names.

    Attributes:
        url: absolute address of the sitemap.
        modified: time of its last change in seconds since 1970; None if the index does not say it.
    """

    url: str
    modified: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PollAnswer:
    """One part of the answer to the request for a source; most answers have one part.

    The parts of an answer arrive in order. Items may be applied part by part; the outcome may be
    applied only when the last part has arrived.

    Attributes:
        outcome: outcome of the poll, the same in each part; its field `items` is empty.
        items: items of this part, in the order of the source.
        children: sitemaps that an index names; only in the last part.
        known: digests of the pages of a sitemap that count as seen since its first poll, packed and
            in base64; None after later polls. Only in the last part.
        is_undated: whether the dates of a sitemap say nothing about which of its pages are new, at
            its first poll; only addresses decide from then on.
        part: number of this part, from 0.
        is_last: whether no further part follows.
        postponed_until: time before which the host may not be asked, in seconds since 1970. The
            request was then not sent, and the outcome changes no state. None after a request.
        host_ready_at: time from which the host may be asked again, in seconds since 1970.
    """

    outcome: PollOutcome
    items: tuple[FeedItem, ...] = ()
    children: tuple[SitemapChild, ...] = ()
    known: str | None = None
    is_undated: bool = False
    part: int = 0
    is_last: bool = True
    postponed_until: float | None = None
    host_ready_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReport:
    """What fetching pages has shown about their source.

    Attributes:
        site, feed: key of the source.
        at: time of the report, seconds since 1970.
        walls: number of pages that were walls since the last report.
        coverage: shares of a page's text that the feed's own text covers, from 0 to 1, one for each
            page that was read both ways.
        dropped: addresses of pages that a rule has dropped from the queue. Their items count as not
            seen.
    """

    site: str
    feed: str
    at: float
    walls: int = 0
    coverage: tuple[float, ...] = ()
    dropped: tuple[str, ...] = ()
