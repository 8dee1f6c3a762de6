"""Read the body of a source of any kind: bytes to items.

feed      feed/parsing.py   items with texts and dates
sitemap   sitemap.py        items with dates, or the children of an index
section   section.py        links with their places
"""

from __future__ import annotations

from dataclasses import dataclass

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsing import parse_feed
from urltree.crawl.decisions.poll.answer import SitemapChild
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.decisions.source.known_addresses import KnownAddresses
from urltree.crawl.decisions.source.section import find_links
from urltree.crawl.decisions.source.sitemap import SitemapKind, parse_sitemap
from urltree.crawl.decisions.source.sitemap_plan import first_look
from urltree.crawl.decisions.timing import DAY

_NOTHING = KnownAddresses()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read a body.

    Attributes:
        kind: kind of the source.
        max_items: largest number of items of a feed that are read.
        with_former: whether items get their former hash.
        with_content: whether items get their full text.
        first_at: time of the first poll of a sitemap, seconds since 1970; None at later polls.
        first_days: largest age in days of the pages that this poll takes.
        taken_after: earliest time of the pages that are taken from a sitemap; None for all.
        is_cut: whether the body is only the beginning of a larger one.
    """

    kind: SourceKind = SourceKind.FEED
    max_items: int
    with_former: bool = False
    with_content: bool = False
    first_at: float | None = None
    first_days: float = 2.0
    taken_after: float | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """What a body contains.

    Attributes:
        title: title of a feed; None if there is none.
        items: items in the order of the source.
        children: sitemaps that an index names.
        known: pages that count as seen since the first poll of a sitemap.
        is_undated: whether the dates of the sitemap say nothing about which pages are new.
        ttl, skip_hours, skip_days: when a feed asks to be polled, as in `ParsedFeed`.
        unread: number of items that were not read, because there were too many.
        unlinked: number of items without a usable link.
        is_cut: whether only the beginning of the body was read.
    """

    title: str | None = None
    items: tuple[FeedItem, ...] = ()
    children: tuple[SitemapChild, ...] = ()
    known: KnownAddresses = _NOTHING
    is_undated: bool = False
    ttl: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    unread: int = 0
    unlinked: int = 0
    is_cut: bool = False


def read_source(body: bytes, content_type: str | None, url: str, how: Reading) -> ReadSource:
    """Read the body of a source.

    Args:
        body: decompressed body of the response.
        content_type: value of the header Content-Type.
        url: address of the response; relative links refer to it.
        how: what to read.

    Raises:
        WebError: NOT_A_FEED: the body is not a source of this kind.
    """
    if how.kind is SourceKind.SITEMAP:
        return _read_sitemap(body, url, how)
    if how.kind is SourceKind.SECTION:
        links = find_links(body, content_type, url)
        return ReadSource(items=links, is_cut=how.is_cut)
    feed = parse_feed(
        body,
        content_type,
        url,
        max_items=how.max_items,
        with_former=how.with_former,
        with_content=how.with_content,
        is_cut=how.is_cut,
    )
    return ReadSource(
        title=feed.title,
        items=feed.items,
        ttl=feed.ttl,
        skip_hours=feed.skip_hours,
        skip_days=feed.skip_days,
        unread=feed.truncated,
        unlinked=feed.skipped,
        is_cut=how.is_cut,
    )


def _read_sitemap(body: bytes, url: str, how: Reading) -> ReadSource:
    first_at = how.first_at
    after = how.taken_after if first_at is None else first_at - how.first_days * DAY
    found = parse_sitemap(body, url, taken_after=after)
    if found.kind is SitemapKind.FEED:
        raise WebError(
            Trouble.NOT_A_FEED, "the body is a feed, not a sitemap; add it as a feed instead"
        )
    items, known = found.items, _NOTHING
    if first_at is not None and found.kind is not SitemapKind.INDEX:
        items, memory = first_look(
            found.items,
            first_at,
            days=how.first_days,
            left_out=found.left_out,
            are_dates_meaningless=found.are_dates_meaningless,
        )
        known = memory.known
    return ReadSource(
        items=items,
        children=found.children,
        known=known,
        is_undated=bool(known) and found.are_dates_meaningless,
        unread=found.counts.beyond_limit,
        unlinked=found.counts.unlinked + found.counts.other_host,
        is_cut=found.is_cut or how.is_cut,
    )
