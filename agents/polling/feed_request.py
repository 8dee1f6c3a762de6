"""One poll of a feed: request the feed, follow redirects, and parse the body.

    url ──▶ 301 ──▶ 301 ──▶ 302 ──▶ 200 ──▶ same body? ──▶ parser ──▶ items
            ╰ moved_to ╯            304, 410, trouble

A redirect to a host that was just requested waits for that host's pause, like every request.

`urltree.crawl.decisions.poll.transition` decides how the outcome changes the feed's state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import can_ada
import xxhash

from agents.polling.parsers import Parsers
from agents.settings.feeds import FeedSettings
from urltree.crawl.decisions.caching import max_age, retry_after
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.poll.seen_items import is_reading_due
from urltree.crawl.decisions.poll.transition import conditional_headers
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.redirects import redirect_target

_ACCEPT = {
    "Accept": "application/atom+xml, application/rss+xml, application/feed+json, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"
}


class PolledFeed(NamedTuple):
    """The outcome of a poll, whose field `items` is still empty, and the items of the feed."""

    outcome: PollOutcome
    items: tuple[FeedItem, ...] = ()


class FinalResponse(NamedTuple):
    """The response at the end of the redirects.

    Attributes:
        response: response that is not a redirect.
        moved_to: target of the last permanent redirect before any temporary one; None if the first
            redirect is temporary, or if there is no redirect.
        seconds: longest latency of all responses, in seconds.
    """

    response: Response
    moved_to: str | None
    seconds: float


class FeedRequester:
    """Client that polls feeds.

    Args:
        client: HTTP client.
        parsers: parsers of feeds.
        settings: settings with the limits of requests and feeds.
        clock: returns seconds since 1970.
    """

    def __init__(
        self,
        client: WebClient,
        parsers: Parsers,
        settings: FeedSettings,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._parsers = parsers
        self._settings = settings
        self._politeness = settings.politeness
        self._clock = clock

    async def request(self, state: FeedState) -> PolledFeed:
        """Poll a feed once, and return the outcome. A failed request has an outcome, too."""
        started = self._clock()
        sent = conditional_headers(state, started)
        try:
            reached = await self._follow(state.url, {**_ACCEPT, **sent})
        except WebError as error:
            at = self._clock()
            outcome = failed_outcome(state, at, error.message, error.trouble)
            # The duration counts like a latency: the host's pause depends on it.
            return PolledFeed(replace(outcome, seconds=max(0.0, at - started)))
        response = reached.response
        outcome = PollOutcome(
            site=state.site,
            feed=state.feed,
            sequence=state.sequence + 1,
            at=self._clock(),
            result=PollResult.UNCHANGED,
            status=response.status,
            moved_to=reached.moved_to,
            seconds=reached.seconds,
        )
        try:
            return await self._read(state, sent, response, outcome)
        except WebError as error:
            return PolledFeed(
                replace(
                    outcome,
                    result=PollResult.FAILED,
                    trouble=error.trouble,
                    message=error.message,
                    moved_to=None,
                    retry_after=retry_after(response.headers, outcome.at),
                )
            )

    async def _follow(self, url: str, sent: Mapping[str, str]) -> FinalResponse:
        visited, moved_to, seconds, is_permanent = [url], None, 0.0, True
        while True:
            response = await self._client.get(
                visited[-1], sent, max_bytes=self._settings.max_feed_bytes, wants=_wants_body
            )
            seconds = max(seconds, response.seconds)
            if not response.is_redirect:
                return FinalResponse(response, moved_to, seconds)
            to = redirect_target(response)
            is_permanent = is_permanent and response.is_permanent
            moved_to = to if is_permanent else moved_to
            if to in visited:
                raise WebError(Trouble.REDIRECT, f"redirect loop: back to {to[:200]}")
            if len(visited) > self._settings.max_redirects:
                raise WebError(
                    Trouble.REDIRECT,
                    f"the request was redirected more than {self._settings.max_redirects} times",
                )
            if host_of(to) in map(host_of, visited):
                await asyncio.sleep(self._politeness.after(response.seconds))
            visited.append(to)

    async def _read(
        self, state: FeedState, sent: Mapping[str, str], response: Response, outcome: PollOutcome
    ) -> PolledFeed:
        if response.status == 410:
            gone = replace(
                outcome, trouble=Trouble.STATUS, message="the response has status 410: gone"
            )
            return PolledFeed(replace(gone, result=PollResult.GONE))
        if response.status == 304 and sent:
            return PolledFeed(outcome)
        if response.status != 200:
            raise WebError(
                Trouble.STATUS,
                f"the response has status {response.status}{_unexpected_304(response)}",
            )
        age, no_cache = max_age(response.headers)
        outcome = replace(
            outcome,
            etag=response.headers.get("etag"),
            last_modified=response.headers.get("last-modified"),
            body_hash=xxhash.xxh3_128_hexdigest(response.body),
            max_age=age,
            no_cache=no_cache,
        )
        if outcome.body_hash == state.body_hash and not is_reading_due(state, sent, outcome.at):
            return PolledFeed(outcome)
        content_type = response.headers.get("content-type")
        feed = await self._parsers.parse(response.body, content_type, response.url)
        return PolledFeed(
            replace(
                outcome,
                result=PollResult.ITEMS,
                title=feed.title,
                ttl=feed.ttl,
                skip_hours=feed.skip_hours,
                skip_days=feed.skip_days,
            ),
            feed.items,
        )


def failed_outcome(
    state: FeedState, at: float, message: str, trouble: Trouble | None = None
) -> PollOutcome:
    """Return the outcome of a poll that failed without a response.

    Args:
        state: state of the feed.
        at: time of the failure, seconds since 1970.
        message: explanation for people.
        trouble: class of the failure; None for an unexpected error in our code.
    """
    return PollOutcome(
        site=state.site,
        feed=state.feed,
        sequence=state.sequence + 1,
        at=at,
        result=PollResult.FAILED,
        trouble=trouble,
        message=message,
    )


def _wants_body(status: int, _headers: Mapping[str, str]) -> bool:
    """Return whether to read the body: for status 200, whatever its Content-Type.

    Feeds are also sent as text/html and text/plain.
    """
    return status == 200


def _unexpected_304(response: Response) -> str:
    return ", although the request was unconditional" if response.status == 304 else ""


def host_of(url: str) -> str:
    """Return the host of a URL, in lower case, with its port unless it is the default."""
    try:
        host: str = can_ada.parse(url).host
    except ValueError:
        return url  # the URL is invalid, so its request will fail
    return host
