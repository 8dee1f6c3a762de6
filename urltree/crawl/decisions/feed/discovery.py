"""Feed autodiscovery: find the feeds that a web page links to, and list common feed addresses.

    <link rel="alternate" type="application/rss+xml">    feeds that the page declares, in its order,
                                                         feeds of comments last
    <a href="/blog/feed/">                               links that look like feeds
    /feed, /rss.xml, …                                   common paths, tried one by one

Browsers support the first form, `<link>` (RSS Advisory Board, "RSS Autodiscovery"; RFC 4287 for
Atom; JSON Feed 1.1, "Discovery").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from urltree.crawl.decisions.feed.address import feed_address
from urltree.html.encoding import decode_html
from urltree.html.parser import parse_html
from urltree.page import PageError

MAX_CANDIDATES = 100  # largest number of addresses that one page yields

COMMON_PATHS = (
    *("/feed", "/rss.xml", "/atom.xml", "/index.xml", "/feed.xml", "/rss", "/feed.json"),
    *("/feeds/posts/default", "/?feed=rss2"),
)

# `application/json` is missing, because WordPress uses this type for links to its API.
_TYPES = frozenset(
    {
        *("application/rss+xml", "application/atom+xml", "application/rdf+xml"),
        *("application/feed+json", "application/x.atom+xml", "application/x-atom+xml"),
        *("application/xml", "text/xml", "text/rss+xml"),
    }
)
_LOOKS_LIKE_ONE = re.compile(
    r"(?:^|[/._-])(?:feeds?|rss2?|atom)(?:/|\.(?:xml|rss|atom|json|rdf|php))?$"
    r"|\.(?:rss|atom|rdf)$|/index\.xml$",
    re.IGNORECASE,
)
_LOOKS_LIKE_ONE_BY_QUERY = re.compile(r"(?:^|&)(?:feed=|format=(?:rss|atom|feed))", re.IGNORECASE)
_COMMENTS = re.compile(r"\bcomments?\b|\bkommentare\b|\bcommentaires\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FeedCandidate:
    """An address that may be a feed.

    Attributes:
        url: absolute URL.
        title: title of the link in the page; None if it has no title.
    """

    url: str
    title: str | None = None

    @property
    def is_of_comments(self) -> bool:
        """Whether the feed seems to contain readers' comments instead of pages of the site."""
        return bool(_COMMENTS.search(self.url) or _COMMENTS.search(self.title or ""))


def find_feeds(
    html: bytes, base_url: str, content_type: str | None = None
) -> tuple[FeedCandidate, ...]:
    """Return the feeds that a page links to, the most likely main feed first, without duplicates.

    Args:
        html: bytes of the page.
        base_url: address of the page. Links are relative to this address, or to the <base> of the
            page if it has one.
        content_type: value of the header Content-Type; only its charset is used.
    """
    links = _Links()
    try:
        parse_html(decode_html(html, content_type).encode(errors="replace"), links)
    except PageError:
        return ()
    base = _base(base_url, links.base)
    said = sorted(_absolute(base, links.said), key=lambda found: found.is_of_comments)
    seen = sorted(_absolute(base, links.seen), key=lambda found: found.is_of_comments)
    once = {found.url: found for found in reversed((*said, *seen)) if found.url != base_url}
    return tuple(reversed(once.values()))[:MAX_CANDIDATES]


def _base(base_url: str, href: str | None) -> str:
    """Return the address to which links are relative; a <base> that is no URL is ignored."""
    try:
        return urljoin(base_url, href) if href else base_url
    except ValueError:
        return base_url


def common_feeds(base_url: str) -> tuple[FeedCandidate, ...]:
    """Return common feed addresses of a site, the most usual first.

    They are tried if a page links to no feed.
    """
    return tuple(FeedCandidate(urljoin(base_url, path)) for path in COMMON_PATHS)


class _Links:
    """A parser target that collects the links to feeds in a page: href and title, unchanged."""

    def __init__(self) -> None:
        self.base: str | None = None
        self.said: list[tuple[str, str | None]] = []
        self.seen: list[tuple[str, str | None]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        href = attributes.get("href", "").strip()
        if not href:
            return
        if tag == "base":
            self.base = self.base or href
        elif tag == "link" and _is_feed(attributes):
            self.said.append((href, _title(attributes)))
        elif tag == "a" and (_is_feed(attributes) or _looks_like_one(href)):
            self.seen.append((href, _title(attributes)))

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


def _is_feed(attributes: Mapping[str, str]) -> bool:
    rel = attributes.get("rel", "").lower().split()
    kind = attributes.get("type", "").partition(";")[0].strip().lower()
    return ("alternate" in rel and kind in _TYPES) or "feed" in rel


def _looks_like_one(href: str) -> bool:
    path, _, query = href.partition("#")[0].partition("?")
    return bool(_LOOKS_LIKE_ONE.search(path) or _LOOKS_LIKE_ONE_BY_QUERY.search(query))


def _title(attributes: Mapping[str, str]) -> str | None:
    return " ".join(attributes.get("title", "").split()) or None


def _absolute(base: str, links: Iterable[tuple[str, str | None]]) -> Iterable[FeedCandidate]:
    """Yield the links that are http or https URLs, as absolute URLs."""
    for href, title in links:
        try:
            yield FeedCandidate(feed_address(urljoin(base, href)), title)
        except ValueError:
            continue
