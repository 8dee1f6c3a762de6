"""Discovery of feeds: an address may be that of a feed, of a page that names feeds, or of a site.

    address ──▶ a feed                            this feed
            └─▶ a page ──▶ feeds that it names    the first valid one
                       └─▶ usual feed paths       the first valid one

Requests are sent one at a time, with the pause `host_pause` between them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from agents.settings.job import Settings
from urltree.crawl.decisions.feed.discovery import FeedCandidate, common_feeds, find_feeds
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed
from urltree.crawl.decisions.response import Response, Trouble, WebError
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

    async def parse(self, body: bytes, content_type: str | None, url: str) -> ParsedFeed:
        """Parse one feed. Raises WebError(NOT_A_FEED)."""


class DiscoveredFeeds(NamedTuple):
    """Feeds that were discovered at an address.

    Attributes:
        feeds: Feeds that were requested and parsed.
        others: Further feeds that the page names; they were not requested.
    """

    feeds: tuple[FeedCandidate, ...]
    others: tuple[FeedCandidate, ...] = ()


class FeedDiscovery:
    """Finder of the feeds at an address; it requests the address and the feeds that it names."""

    def __init__(self, settings: Settings, web: HttpClient, parsing: FeedParser) -> None:
        self._settings = settings
        self._web = web
        self._parsing = parsing
        self._has_asked = False

    async def at(self, url: str, *, everything: bool = False) -> DiscoveredFeeds:
        """Return the main feed of an address; with `everything`, all feeds that its page names.

        Raises:
            WebError: The request failed, or there is no feed.
        """
        name, answer = await self._ask(url)
        try:
            return DiscoveredFeeds((await self._read(name, answer),))
        except WebError as error:
            if error.trouble is not Trouble.NOT_A_FEED:
                raise
        named = find_feeds(answer.body, answer.url, answer.headers.get("content-type"))
        found = await self._first(named, everything=everything)
        if not found.feeds:
            found = await self._first(common_feeds(answer.url), everything=False)
            found = DiscoveredFeeds(found.feeds)
        if not found.feeds:
            raise WebError(
                Trouble.NOT_A_FEED, "this is not a feed, and the page there names no valid feed"
            )
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
        return await self._web.get(url, max_bytes=self._settings.max_feed_bytes)
