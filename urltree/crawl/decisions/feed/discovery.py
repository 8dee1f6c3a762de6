"""Autodiscovery: where a site's page says that its feeds are, and where else they may be.

    <link rel="alternate" type="application/rss+xml">    what the page says, in its order,
                                                         feeds of comments last
    <a href="/blog/feed/">                               what looks like a feed's address
    /feed, /rss.xml, …                                   common places, to be tried politely

The first is the rule that browsers agreed on (RSS Advisory Board, "RSS Autodiscovery"; RFC 4287
for Atom; JSON Feed 1.1, "Discovery").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from urltree.crawl.decisions.feed.address import address
from urltree.html.encoding import decode_html
from urltree.html.parser import parse_html
from urltree.page import PageError

MAX_CANDIDATES = 100  # of a page

COMMON_PATHS = (
    *("/feed", "/rss.xml", "/atom.xml", "/index.xml", "/feed.xml", "/rss", "/feed.json"),
    *("/feeds/posts/default", "/?feed=rss2"),
)

# `application/json` is none of them: WordPress links its API by it.
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
class Candidate:
    """What may be a feed.

    Attributes:
        url: absolute.
        title: as the page says it.
    """

    url: str
    title: str | None = None

    @property
    def is_of_comments(self) -> bool:
        """Whether it holds what readers say, not the pages of the site."""
        return bool(_COMMENTS.search(self.url) or _COMMENTS.search(self.title or ""))


def feeds_of(html: bytes, base_url: str, content_type: str | None = None) -> tuple[Candidate, ...]:
    """The feeds that a page names, the most likely main one first; each address once.

    Args:
        html: of the page.
        base_url: its address, to which its links are relative unless it has a <base>.
        content_type: the header, whose charset counts.
    """
    links = _Links()
    try:
        parse_html(decode_html(html, content_type).encode(errors="replace"), links)
    except PageError:
        return ()
    base = urljoin(base_url, links.base) if links.base else base_url
    said = sorted(_absolute(base, links.said), key=lambda found: found.is_of_comments)
    seen = sorted(_absolute(base, links.seen), key=lambda found: found.is_of_comments)
    once = {found.url: found for found in reversed((*said, *seen)) if found.url != base_url}
    return tuple(reversed(once.values()))[:MAX_CANDIDATES]


def common(base_url: str) -> tuple[Candidate, ...]:
    """Where feeds often are on a site that names none, the most usual place first."""
    return tuple(Candidate(urljoin(base_url, path)) for path in COMMON_PATHS)


class _Links:
    """Collects links while a page is parsed: href and title, as they stand there."""

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


def _absolute(base: str, links: Iterable[tuple[str, str | None]]) -> Iterable[Candidate]:
    """Those that are http addresses."""
    for href, title in links:
        try:
            yield Candidate(address(urljoin(base, href)), title)
        except ValueError:
            continue
