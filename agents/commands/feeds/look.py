"""What feeds an address has: it is one itself, or a page that names some, or a site that has some.

    address ──▶ a feed                            this one
            └─▶ a page ──▶ feeds that it names    the first that is one
                       └─▶ common places          the first that is one

One request at a time, with the pause that a host is owed.
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


class Web(Protocol):
    """Asks for an address (`urltree.crawl.web.client.WebClient`)."""

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] = ...,
        *,
        max_bytes: int,
        wants: Callable[[int, Mapping[str, str]], bool] = ...,
    ) -> Response:
        """One request."""


class Parsing(Protocol):
    """Reads feeds (`agents.polling.parsers.Parsers`)."""

    async def parse(self, body: bytes, content_type: str | None, url: str) -> ParsedFeed:
        """One feed. Raises WebError(NOT_A_FEED)."""


class Found(NamedTuple):
    """What an address has.

    Attributes:
        feeds: asked, and found to be feeds.
        others: named by the page, not asked.
    """

    feeds: tuple[FeedCandidate, ...]
    others: tuple[FeedCandidate, ...] = ()


class Look:
    """Looks for feeds on the web."""

    def __init__(self, settings: Settings, web: Web, parsing: Parsing) -> None:
        self._settings = settings
        self._web = web
        self._parsing = parsing
        self._has_asked = False

    async def at(self, url: str, *, everything: bool = False) -> Found:
        """The main feed of an address, or all that its page names.

        Raises:
            WebError: no answer, or no feed.
        """
        name, answer = await self._ask(url)
        try:
            return Found((await self._read(name, answer),))
        except WebError as error:
            if error.trouble is not Trouble.NOT_A_FEED:
                raise
        named = find_feeds(answer.body, answer.url, answer.headers.get("content-type"))
        found = await self._first(named, everything=everything)
        if not found.feeds:
            found = await self._first(common_feeds(answer.url), everything=False)
            found = Found(found.feeds)
        if not found.feeds:
            raise WebError(Trouble.NOT_A_FEED, "neither a feed nor a page that leads to one")
        return found

    async def _first(self, candidates: Iterable[FeedCandidate], *, everything: bool) -> Found:
        """The first that is a feed, and those after it; or every one."""
        left = list(candidates)
        feeds: dict[str, FeedCandidate] = {}
        while left and (everything or not feeds):
            candidate = left.pop(0)
            try:
                feed = await self._read(*await self._ask(candidate.url))
            except WebError:
                continue
            feeds.setdefault(feed.url, FeedCandidate(feed.url, feed.title or candidate.title))
        return Found(tuple(feeds.values()), tuple(left))

    async def _read(self, name: str, answer: Response) -> FeedCandidate:
        parsed = await self._parsing.parse(
            answer.body, answer.headers.get("content-type"), answer.url
        )
        return FeedCandidate(name, parsed.title)

    async def _ask(self, url: str) -> tuple[str, Response]:
        """The answer behind redirects, and the address that permanent ones alone lead to."""
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
