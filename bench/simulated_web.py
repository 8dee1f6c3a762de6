"""A simulated web that counts impolite requests.

The web records all requests and checks what the crawler promises for each host: one connection at a
time, a pause of at least one second and at least twice the last latency between two requests (60
seconds at most), and no request during the time that a response 429 asks for. Feeds and pages of a
host count alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from bench.simulated_feeds import DAY, HOUR, Outage, SimulatedFeed, make_feeds
from urltree.crawl.decisions.response import Response, Trouble, WebError

START = 1_767_571_200.0  # Monday, 5 January 2026, midnight UTC

PAUSE, PAUSE_MAX, LATENCY_FACTOR = 1.0, 60.0, 2.0
TIMEOUT = 20.0
LATENCY = (0.1, 5.0)  # lowest and highest latency in seconds

_ROUNDING = 1e-3  # seconds; a thousand times the rounding error of a time in 2026 as a float


class Listed(NamedTuple):
    """An item of a feed: the address of its page, and its date; None if the feed gives no date."""

    link: str
    time: float | None


class Contents(NamedTuple):
    """The content of a feed as a parser would return it: the items, and the ttl in seconds."""

    items: tuple[Listed, ...]
    ttl: float | None


@dataclass(slots=True)
class RequestRecord:
    """A host's record of its requests.

    Attributes:
        ends: end of the last request.
        pause: pause in seconds that must follow the last request.
        leave_alone_until: end of the time in which a response 429 forbids requests.
    """

    ends: float = 0.0
    pause: float = PAUSE
    leave_alone_until: float = 0.0


@dataclass(slots=True)
class Host:
    """A host with its latency in seconds, its outages, and a record of its requests."""

    latency: float
    outages: tuple[Outage, ...]
    line: RequestRecord = field(default_factory=RequestRecord)


class SimulatedWeb:
    """All simulated sites; the same seed gives the same web.

    Attributes:
        breaches: number of impolite requests for "feeds" and for "pages". "between" is the number
            of requests that began during another request of the same host.
    """

    def __init__(self, seed: int, feeds: int, sites: int, days: float) -> None:
        self.end = START + days * DAY
        self._random = Random(seed)
        made = make_feeds(self._random, feeds, sites, START, self.end)
        self.feeds = {feed.url: feed for feed in made}
        hosts = {host for feed in self.feeds.values() for host in (feed.host, feed.link_host)}
        self._hosts = {host: self._host() for host in sorted(hosts)}
        self._numbered = {str(feed.number): feed for feed in self.feeds.values()}
        self.breaches: Counter[str] = Counter()

    def ask(
        self, url: str, headers: Mapping[str, str], now: float
    ) -> tuple[Response | WebError, float]:
        """Simulate a GET request, and return its response and the time at which it ends."""
        host = self._hosts[url.split("/")[2]]
        kind = "pages" if url not in self.feeds else "feeds"
        came, ends = self._answer(host, url, headers, now)
        self._observe(host, kind, came, now, ends)
        return came, ends

    def contents(self, body: bytes) -> Contents:
        """Return the content of a feed from a response body, in place of the parser."""
        number, version = body.decode().split(":")
        feed, last = self._numbered[number], int(version)
        items = range(last - 1, max(-1, last - 1 - feed.window), -1)
        listed = (Listed(item_page_address(feed, item), feed.date(item)) for item in items)
        return Contents(tuple(listed), feed.ttl)

    def is_healthy(self, feed: SimulatedFeed) -> bool:
        """Return whether a feed and its host always respond correctly."""
        return not (feed.outages or feed.broken or self._hosts[feed.host].outages)

    def _host(self) -> Host:
        latency = min(max(self._random.lognormvariate(-1.2, 0.9), LATENCY[0]), LATENCY[1])
        outages: tuple[Outage, ...] = ()
        if self._random.random() < 0.02:
            starts = self._random.uniform(START, self.end)
            asked = self._random.choice((None, 600, 3_600))
            hours = self._random.uniform(1, 6)
            outages = (Outage(starts, starts + hours * HOUR, 429, asked),)
        return Host(latency, outages)

    def _answer(
        self, host: Host, url: str, headers: Mapping[str, str], now: float
    ) -> tuple[Response | WebError, float]:
        feed = self.feeds.get(url)
        seconds = min(max(host.latency * self._random.uniform(0.7, 1.3), LATENCY[0]), LATENCY[1])
        for outage in (*host.outages, *(feed.outages if feed else ())):
            if outage.starts <= now < outage.ends:
                if outage.status is None:
                    return WebError(Trouble.TIMEOUT, "no answer"), now + TIMEOUT
                said = {"retry-after": str(outage.retry_after)} if outage.retry_after else {}
                return Response(url, outage.status, said, b"", seconds), now + seconds
        if feed is None:
            return Response(url, 200, {}, b"<p>", seconds), now + seconds
        return _listed(feed, headers, now, seconds), now + seconds

    def _observe(
        self, host: Host, kind: str, came: Response | WebError, now: float, ends: float
    ) -> None:
        line = host.line
        if now < line.ends:
            self.breaches["between"] += 1
        if now + _ROUNDING < max(line.ends + line.pause, line.leave_alone_until):
            self.breaches[kind] += 1
        line.ends = ends
        if isinstance(came, Response):
            line.pause = max(PAUSE, min(LATENCY_FACTOR * came.seconds, PAUSE_MAX))
            if came.status == 429:
                line.leave_alone_until = ends + float(came.headers.get("retry-after", 0))


def item_page_address(feed: SimulatedFeed, item: int) -> str:
    """Return the address of the page of an item."""
    return f"https://{feed.link_host}/{feed.number}/{item}"


def _listed(
    feed: SimulatedFeed, headers: Mapping[str, str], now: float, seconds: float
) -> Response:
    version = feed.published(now)
    etag = f'"{version}"'
    said = {"etag": etag} if feed.has_etag else {}
    if feed.max_age is not None:
        said["cache-control"] = f"max-age={feed.max_age:.0f}"
    known = headers.get("If-None-Match")
    if known is not None and (known == etag or feed.broken):
        return Response(feed.url, 304, said, b"", seconds)
    return Response(feed.url, 200, said, f"{feed.number}:{version}".encode(), seconds)
