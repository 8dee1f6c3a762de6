"""Parser for sitemaps, news sitemaps, sitemap indexes and text sitemaps (sitemaps.org).

    <urlset>        <url> <loc>, <lastmod>, <news:news> …    pages: items with dates
    <sitemapindex>  <sitemap> <loc>, <lastmod>               further sitemaps: children
    one address on each line                                 pages without dates
    <rss>, <feed>   a feed that is given as a sitemap        to be read by the parser of feeds

The file is parsed chunk by chunk, and only entries that are taken are kept: a file of 50 MB with
50,000 addresses takes no more memory than its items. A damaged file yields what can be read. No
entity is expanded, and nothing is loaded. Only pages on the registrable domain of the sitemap are
taken (sitemaps.org, "Sitemap file location": a sitemap does not speak for other hosts).
"""

from __future__ import annotations

import heapq
import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from lxml import etree

from urltree.address.domain import Domains
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import MAX_TITLE, absolute_link, truncate_text
from urltree.crawl.decisions.poll.answer import SitemapChild
from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.decisions.source.known_addresses import KnownAddresses, address_digest
from urltree.crawl.decisions.source.sitemap_body import MAX_BYTES, SitemapChunks
from urltree.crawl.decisions.source.sitemap_dates import (
    are_stamped,
    latest_time,
    modified_time,
    read_w3c_date,
)

MAX_ADDRESSES = 50_000  # of one file (sitemaps.org, "Using Sitemap index files")
MAX_ELEMENTS = 3_000_000  # 50,000 entries with 60 elements each; more take too long to parse

_HELD = 8_192  # characters of a text that are kept; an address is at most this long (`MAX_URL`)
_ENTRIES = {"url", "sitemap"}
_FEEDS = {"rss", "feed", "rdf", "channel"}
_ADDRESS_LINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*https?://", re.IGNORECASE)


class SitemapKind(StrEnum):
    """What a file is."""

    PAGES = "pages"  # a sitemap of pages
    NEWS = "news"  # a news sitemap: at least one entry has the date of its publication
    INDEX = "index"  # a list of sitemaps
    FEED = "feed"  # a feed; its items are not read here


@dataclass(slots=True, kw_only=True)
class SitemapCounts:
    """Numbers of entries of a sitemap.

    Attributes:
        read: entries that were read.
        unlinked: entries without a usable address.
        other_host: entries whose address is on another registrable domain.
        too_old: entries that are older than `taken_after`.
        beyond_limit: entries that were not taken because newer ones filled `max_items`.
    """

    read: int = 0
    unlinked: int = 0
    other_host: int = 0
    too_old: int = 0
    beyond_limit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSitemap:
    """A parsed sitemap.

    Attributes:
        kind: what the file is.
        items: pages that were taken, in the order of the file.
        children: sitemaps that an index names, without duplicates.
        counts: numbers of entries.
        left_out: addresses of pages of the site that were read but not taken.
        are_dates_meaningless: whether the dates do not show which pages are new: most pages have
            none, or at least 20 pages, which are more than half, have dates within an hour. Dates
            of publication are always believed.
        is_cut: whether the file is damaged at its end, or exceeds a limit, so that entries may be
            missing.
    """

    kind: SitemapKind
    items: tuple[FeedItem, ...] = ()
    children: tuple[SitemapChild, ...] = ()
    counts: SitemapCounts
    left_out: KnownAddresses
    are_dates_meaningless: bool = False
    is_cut: bool = False


def parse_sitemap(
    body: bytes,
    url: str,
    *,
    taken_after: float | None = None,
    max_items: int = MAX_ADDRESSES,
    domain_of: Callable[[str], str] | None = None,
) -> ParsedSitemap:
    """Parse a sitemap.

    Args:
        body: body of the response; it may be compressed with gzip.
        url: address of the response.
        taken_after: only pages whose date is later are taken, and all pages without date; None
            takes every page. In seconds since 1970.
        max_items: largest number of items; the newest pages are taken, and those without date only
            if there is room.
        domain_of: function that returns the registrable domain of a host; None uses the lists that
            are shipped.

    Raises:
        WebError: NOT_A_FEED: the body is neither a sitemap nor a feed.
    """
    entries = _Entries(url, taken_after, max_items, domain_of or _shipped_domains().of)
    chunks = SitemapChunks(body, MAX_BYTES)
    is_whole = True
    if _ADDRESS_LINE.match(body, 0, 1_024) or _is_text(chunks):
        is_whole = _read_lines(chunks, entries)
        kind = SitemapKind.PAGES
    else:
        found = _read_xml(chunks, entries)
        is_whole = found.is_whole
        kind = found.kind
    return ParsedSitemap(
        kind=SitemapKind.NEWS if kind is SitemapKind.PAGES and entries.has_news else kind,
        items=entries.items,
        children=tuple(entries.children.values()),
        counts=entries.counts,
        left_out=KnownAddresses.of_digests(entries.left_out),
        are_dates_meaningless=entries.are_dates_meaningless,
        is_cut=chunks.is_cut or not is_whole,
    )


class _TooManyError(Exception):
    """The file has more entries or elements than it may have."""


class _Entries:
    """The entries that are taken, and their number: the newest `max_items` of all."""

    def __init__(
        self, url: str, taken_after: float | None, most: int, domain_of: Callable[[str], str]
    ) -> None:
        self._url = url
        self._taken_after = taken_after
        self._most = most
        self._domain_of = domain_of
        self._domain = domain_of(_host(url))
        self._newest: list[tuple[float, int, FeedItem]] = []
        self.children: dict[str, SitemapChild] = {}
        self.counts = SitemapCounts()
        self.left_out: list[bytes] = []  # digests
        self._times = array("d")
        self._pages = 0
        self.has_news = False

    @property
    def items(self) -> tuple[FeedItem, ...]:
        """Items in the order of the file."""
        ordered = sorted(self._newest, key=lambda row: -row[1])
        return tuple(item for _, _, item in ordered)

    @property
    def are_dates_meaningless(self) -> bool:
        """Whether the dates do not show which pages are new; see `ParsedSitemap`."""
        if self.has_news:
            return False
        has_few = 2 * len(self._times) <= self._pages
        return has_few or are_stamped(self._times, self._pages)

    def add_page(
        self, address: str, updated: str | None, published: str | None, title: str | None
    ) -> None:
        link = self._link(address)
        if link is None:
            return
        published, updated = read_w3c_date(published), read_w3c_date(updated)
        self.has_news = self.has_news or published is not None
        time = latest_time(published or updated)
        self._pages += 1
        if time is not None:
            self._times.append(time)
        if time is not None and self._taken_after is not None and time <= self._taken_after:
            self.counts.too_old += 1
            self.left_out.append(address_digest(link))
            return
        shown = truncate_text(title, MAX_TITLE)
        item = FeedItem(link=link, title=shown, published=published, updated=updated)
        row = (float("-inf") if time is None else time, -self.counts.read, item)
        if len(self._newest) < self._most:
            heapq.heappush(self._newest, row)
            return
        left_out = heapq.heappushpop(self._newest, row) if self._newest else row
        self.counts.beyond_limit += 1
        self.left_out.append(address_digest(left_out[2].link))

    def add_child(self, address: str, updated: str | None) -> None:
        link = self._link(address)
        if link is not None and link != self._url:
            self.children.setdefault(link, SitemapChild(url=link, modified=modified_time(updated)))

    def _link(self, address: str) -> str | None:
        """Count an entry, and return its absolute address if it is on the sitemap's domain."""
        if self.counts.read >= MAX_ADDRESSES:
            raise _TooManyError
        self.counts.read += 1
        text = address.strip().replace("&amp;", "&")  # escaped twice, or inside CDATA
        is_address = text[:8].lower().startswith(("http://", "https://", "/"))
        link = absolute_link(text, self._url) if is_address else None
        if link is None:
            self.counts.unlinked += 1
        elif self._domain_of(_host(link)) != self._domain:
            self.counts.other_host += 1
            return None
        return link


class _SitemapTarget:
    """A parser target that reports each entry when it ends; it keeps nothing of the tree."""

    def __init__(self, entries: _Entries) -> None:
        self._entries = entries
        self._elements = 0
        self._depth = 0
        self._parents: list[str] = []  # names of the open elements; deeper ones than 8 are unknown
        self._entry: str | None = None
        self._fields: dict[str, str] = {}
        self._field: str | None = None
        self._text: list[str] = []
        self._size = 0
        self.root: str | None = None

    def start(self, tag: str, _attributes: object) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise _TooManyError
        name = _local(tag)
        self.root = self.root or name
        if self.root in _FEEDS or self.root == "html":
            raise _TooManyError
        if name in _ENTRIES:
            self.finish()
            self._entry = name
        self._field = self._field_of(name)
        self._text, self._size = [], 0
        if self._depth < 8:
            self._parents.append(name)
        self._depth += 1

    def end(self, tag: str) -> None:
        name = _local(tag)
        self._depth -= 1
        if self._depth < 8:
            del self._parents[max(0, self._depth) :]
        if self._field is not None:
            self._fields.setdefault(self._field, "".join(self._text))
            self._field = None
        if name == self._entry:
            self.finish()

    def data(self, text: str) -> None:
        if self._field is not None and self._size < _HELD:
            self._text.append(text)
            self._size += len(text)

    def close(self) -> None:
        self.finish()

    def finish(self) -> None:
        """Report the open entry, if it has an address."""
        entry, fields = self._entry, self._fields
        self._entry, self._fields = None, {}
        if entry is None or "loc" not in fields:
            return
        if entry == "sitemap":
            self._entries.add_child(fields["loc"], fields.get("lastmod"))
        else:
            self._entries.add_page(
                fields["loc"], fields.get("lastmod"), fields.get("published"), fields.get("title")
            )

    def _field_of(self, name: str) -> str | None:
        """Return the name of a field that is read; None for all other elements.

        `loc` must be a child of the entry, because images and videos have a `loc` of their own.
        """
        parent = self._parents[-1] if self._parents and self._depth <= 8 else None
        if self._entry is not None and parent == self._entry:
            return name if name in ("loc", "lastmod") else None
        if parent == "news":
            return {"publication_date": "published", "title": "title"}.get(name)
        return None


@dataclass(frozen=True, slots=True)
class _Read:
    kind: SitemapKind
    is_whole: bool


def _read_xml(chunks: Iterable[bytes], entries: _Entries) -> _Read:
    target = _SitemapTarget(entries)
    handler: Any = target  # lxml's types do not know targets without bytes
    parser = etree.XMLParser(
        target=handler,
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    is_whole = True
    is_empty = True
    try:
        for chunk in chunks:
            parser.feed(chunk.lstrip() if is_empty else chunk)
            is_empty = is_empty and not chunk.strip()
        parser.close()
    except (_TooManyError, etree.LxmlError, LookupError, UnicodeError):
        is_whole = False
    if target.root in _FEEDS:
        return _Read(SitemapKind.FEED, is_whole=True)
    if target.root == "sitemapindex" or (entries.children and not entries.items):
        return _Read(SitemapKind.INDEX, is_whole)
    if target.root == "urlset" or entries.items:
        return _Read(SitemapKind.PAGES, is_whole)
    raise WebError(Trouble.NOT_A_FEED, "the body is not a sitemap, sitemap index or feed")


def _is_text(chunks: Iterable[bytes]) -> bool:
    """Return whether a body, which may be compressed, begins with an address."""
    first = next(iter(chunks), b"")
    return _ADDRESS_LINE.match(first, 0, 1_024) is not None


def _read_lines(chunks: Iterable[bytes], entries: _Entries) -> bool:
    """Read a text sitemap; return whether it was read to its end."""
    held = b""
    try:
        for chunk in chunks:
            *lines, held = (held + chunk).split(b"\n")
            held = held[: 2 * _HELD]
            for line in lines:
                _add_line(line, entries)
        _add_line(held, entries)
    except _TooManyError:
        return False
    return True


def _add_line(line: bytes, entries: _Entries) -> None:
    text = line.removeprefix(b"\xef\xbb\xbf").strip()
    if text:
        entries.add_page(text.decode(errors="replace"), None, None, None)


def _local(tag: str) -> str:
    """Return the name of a tag without its namespace, or without a prefix that is not declared."""
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removesuffix(".")


@cache
def _shipped_domains() -> Domains:
    return Domains()
