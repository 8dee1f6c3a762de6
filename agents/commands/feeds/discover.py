"""Discovery of sources: an address may be that of a feed, a sitemap, or any page of a site.

    address ──▶ a feed or a sitemap                     this one
            └─▶ a page ──▶ feeds that it names          the first valid one
                       └─▶ usual feed paths             the first valid one
                       └─▶ sitemaps of robots.txt       the first valid one
                       └─▶ usual sitemap paths          the first valid one
                       └─▶ no feed and no sitemap       the page itself, as a section page

Requests are sent one at a time, with the pause `host_pause` between them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from agents.settings.job import Settings
from urltree.crawl.decisions.feed.discovery import FeedCandidate, common_feeds, find_feeds
from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.host.robots import Robots, interpret_robots, robots_url
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.decisions.source.kind import detect_kind, sitemap_addresses
from urltree.crawl.decisions.source.reading import ReadSource
from urltree.crawl.decisions.source.section import find_links
from urltree.crawl.decisions.source.sitemap import SitemapKind, parse_sitemap
from urltree.crawl.decisions.source.sitemap_body import MAX_BYTES
from urltree.crawl.web.redirects import redirect_target


class HttpClient(Protocol):
    """HTTP client that discovery needs (`urltree.crawl.web.client.WebClient`)."""

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] = ...,
        *,
        max_bytes: int,
        wants: Callable[[int, Mapping[str, str]], bool] = ...,
    ) -> Response:
        """Send one request."""


class FeedParser(Protocol):
    """Parser of feeds that discovery needs (`agents.fetching.parsers.Parsers`)."""

    async def parse(self, body: bytes, content_type: str | None, url: str) -> ReadSource:
        """Parse one feed. Raises WebError(NOT_A_FEED)."""


class DiscoveredFeeds(NamedTuple):
    """Feeds that were discovered at an address.

    Attributes:
        feeds: Feeds that were requested and parsed.
        others: Further feeds that the page names; they were not requested.
        kind: Kind of the sources in `feeds`.
    """

    feeds: tuple[FeedCandidate, ...]
    others: tuple[FeedCandidate, ...] = ()
    kind: SourceKind = SourceKind.FEED


class FeedDiscovery:
    """Finder of the feeds at an address; it requests the address and the feeds that it names."""

    def __init__(self, settings: Settings, web: HttpClient, parsing: FeedParser) -> None:
        self._settings = settings
        self._web = web
        self._parsing = parsing
        self._has_asked = False

    async def at(
        self, url: str, *, everything: bool = False, kind: SourceKind | None = None
    ) -> DiscoveredFeeds:
        """Return the main source of an address; with `everything`, all feeds that its page names.

        Args:
            url: Address of a feed, a sitemap or a page.
            everything: Whether to return every valid feed that the page names.
            kind: Kind that the source must have; None for any kind. With SITEMAP or SECTION, the
                address itself is the source, and feeds are not searched for.

        Raises:
            WebError: The request failed, or there is no source of this kind.
        """
        name, answer = await self._ask(url)
        detected = detect_kind(answer.body, answer.headers.get("content-type"))
        if SourceKind.SITEMAP in (kind, detected) and kind is not SourceKind.FEED:
            return self._sitemap(name, answer)
        if kind is SourceKind.SECTION:
            return self._section(name, answer, await self._robots(answer.url))
        try:
            return DiscoveredFeeds((await self._read(name, answer),))
        except WebError as error:
            if error.trouble is not Trouble.NOT_A_FEED:
                raise
        found = await self._named(answer, everything=everything)
        if found.feeds or kind is SourceKind.FEED or detected is not SourceKind.SECTION:
            if not found.feeds:
                raise WebError(
                    Trouble.NOT_A_FEED, "this is not a feed, and the page there names no valid feed"
                )
            return found
        robots = await self._robots(answer.url)
        for address in sitemap_addresses(answer.url, robots.body if robots else None):
            try:
                return self._sitemap(*await self._ask(address))
            except WebError:
                continue
        return self._section(name, answer, robots)

    def _sitemap(self, name: str, answer: Response) -> DiscoveredFeeds:
        """Return a sitemap as the source. Raises WebError(NOT_A_FEED)."""
        found = parse_sitemap(answer.body, answer.url, max_items=1)
        if found.kind is SitemapKind.FEED or not (found.items or found.children):
            raise WebError(Trouble.NOT_A_FEED, "this is not a sitemap with addresses of its site")
        return DiscoveredFeeds((FeedCandidate(name),), kind=SourceKind.SITEMAP)

    def _section(self, name: str, answer: Response, robots: RobotsText | None) -> DiscoveredFeeds:
        """Return a page itself as the source. Raises WebError(NOT_A_FEED)."""
        content_type = answer.headers.get("content-type")
        if detect_kind(answer.body, content_type) is not SourceKind.SECTION:
            raise WebError(Trouble.NOT_A_FEED, "this is not an HTML page")
        if robots is not None and not Robots(robots).allows(answer.url):
            raise WebError(Trouble.NOT_A_FEED, "robots.txt forbids requests for this section page")
        if not find_links(answer.body, content_type, answer.url):
            raise WebError(Trouble.NOT_A_FEED, "this page names no feed, and has no links")
        return DiscoveredFeeds((FeedCandidate(name),), kind=SourceKind.SECTION)

    async def _robots(self, url: str) -> RobotsText | None:
        """Return the robots.txt of a page's host, None if no rules are known."""
        try:
            _, answer = await self._ask(robots_url(url))
        except WebError:
            return None
        found = interpret_robots(answer, 0.0)
        return found if isinstance(found, RobotsText) else None

    async def _named(self, answer: Response, *, everything: bool) -> DiscoveredFeeds:
        """Return the valid feeds that a page names, or one at a common address."""
        named = find_feeds(answer.body, answer.url, answer.headers.get("content-type"))
        found = await self._first(named, everything=everything)
        if not found.feeds:
            found = await self._first(common_feeds(answer.url), everything=False)
            found = DiscoveredFeeds(found.feeds)
        return found

    async def _first(
        self, candidates: Iterable[FeedCandidate], *, everything: bool
    ) -> DiscoveredFeeds:
        """Return the first valid feed and the candidates after it.

        With `everything`, return all valid feeds and no candidates.
        """
        left = list(candidates)
        feeds: dict[str, FeedCandidate] = {}
        while left and (everything or not feeds):
            candidate = left.pop(0)
            try:
                feed = await self._read(*await self._ask(candidate.url))
            except WebError:
                continue
            feeds.setdefault(feed.url, FeedCandidate(feed.url, feed.title or candidate.title))
        return DiscoveredFeeds(tuple(feeds.values()), tuple(left))

    async def _read(self, name: str, answer: Response) -> FeedCandidate:
        parsed = await self._parsing.parse(
            answer.body, answer.headers.get("content-type"), answer.url
        )
        return FeedCandidate(name, parsed.title)

    async def _ask(self, url: str) -> tuple[str, Response]:
        """Request a URL and follow redirects; return the URL to store, and the response.

        The URL to store changes only by permanent redirects.
        """
        name, is_permanent = url, True
        for _ in range(self._settings.max_redirects + 1):
            answer = await self._get(url)
            if not answer.is_redirect:
                break
            url = redirect_target(answer)
            is_permanent = is_permanent and answer.is_permanent
            name = url if is_permanent else name
        else:
            raise WebError(Trouble.REDIRECT, f"more than {self._settings.max_redirects} redirects")
        if answer.status != 200:
            raise WebError(Trouble.STATUS, f"HTTP status {answer.status}")
        return name, answer

    async def _get(self, url: str) -> Response:
        if self._has_asked:
            await asyncio.sleep(self._settings.host_pause)
        self._has_asked = True
        return await self._web.get(url, max_bytes=MAX_BYTES)
