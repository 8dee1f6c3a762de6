"""A simulated web that counts impolite requests.

The web records all requests and checks what the crawler promises for each host: one connection at a
time, a pause of at least one second and at least twice the last latency between two requests (60
seconds at most), and no request during the time that a response 429 asks for. Feeds and pages of a
host count alike. It also checks the limits that a worker applies to all hosts of a domain and of an
address.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from random import Random
from typing import NamedTuple

from bench.simulated_feeds import (
    COUNTER,
    DAY,
    HOUR,
    PROVIDER,
    PUBLISHED,
    UPDATED,
    Hardships,
    Outage,
    SimulatedFeed,
    make_feeds,
    make_hard_feeds,
)
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.response import Response, Trouble, WebError

START = 1_767_571_200.0  # Monday, 5 January 2026, midnight UTC

PAUSE, PAUSE_MAX, LATENCY_FACTOR = 1.0, 60.0, 2.0
TIMEOUT = 20.0
LATENCY = (0.1, 5.0)  # lowest and highest latency in seconds
DOMAIN_AT_ONCE, DOMAIN_PER_SECOND, ADDRESS_AT_ONCE = 4, 10, 8  # the job's default limits

_ROUNDING = 1e-3  # seconds; a thousand times the rounding error of a time in 2026 as a float


class Contents(NamedTuple):
    """The content of a feed as a parser would return it: the items, and the ttl in seconds."""

    items: tuple[FeedItem, ...]
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


@dataclass(slots=True)
class SharedRecord:
    """The record of the last requests to all hosts of a domain, or of an address.

    Attributes:
        begins: times at which requests began, in rising order; those of the last second.
        ends: times at which the running requests end.
    """

    begins: deque[float] = field(default_factory=deque)
    ends: list[float] = field(default_factory=list)

    def observe(self, now: float, ends: float) -> None:
        """Record a request."""
        self.ends = [at for at in self.ends if at > now + _ROUNDING]
        self.ends.append(ends)
        self.begins.append(now)
        while self.begins[0] <= now - 1 + _ROUNDING:
            self.begins.popleft()


class SimulatedWeb:
    """All simulated sites; the same seed gives the same web.

    Attributes:
        breaches: number of impolite requests for "feeds" and for "pages". "between" is the number
            of requests that began during another request of the same host; "domain" and "address"
            are the numbers of requests above the limits of a worker.
        page_requests: number of requests for each page.
    """

    def __init__(
        self,
        seed: int,
        feeds: int,
        sites: int,
        days: float,
        hardships: Hardships = Hardships(),  # noqa: B008 - it is frozen
    ) -> None:
        self.end = START + days * DAY
        self._random = Random(seed)
        steady = make_feeds(self._random, feeds, sites, START, self.end)
        made = list(make_hard_feeds(steady, hardships, Random(f"provider {seed}"), START, self.end))
        of_provider = {feed.host for feed in made if feed.is_of_provider}
        self._hosts = self._make_hosts(made, of_provider, Random(f"hosts {seed}"))
        self._addresses = dict.fromkeys(of_provider, PROVIDER)
        self.feeds = {
            feed.url: feed for feed in made if feed.is_steady or not hardships.are_left_out
        }
        self._numbered = {str(feed.number): feed for feed in self.feeds.values()}
        self._domains: defaultdict[str, SharedRecord] = defaultdict(SharedRecord)
        self._at_address: defaultdict[str, SharedRecord] = defaultdict(SharedRecord)
        self._responses = count()
        self.breaches: Counter[str] = Counter()
        self.page_requests: Counter[str] = Counter()

    def address(self, host: str) -> str:
        """Return the name of the address of a host."""
        return self._addresses.get(host, host)

    def ask(
        self, url: str, headers: Mapping[str, str], now: float
    ) -> tuple[Response | WebError, float]:
        """Simulate a GET request, and return its response and the time at which it ends."""
        name = url.split("/")[2]
        host = self._hosts[name]
        kind = "pages" if url not in self.feeds else "feeds"
        came, ends = self._answer(host, url, headers, now)
        self._observe(host, kind, came, now, ends)
        self._observe_shared(name, now, ends)
        if kind == "pages":
            self.page_requests[page_of(url)] += 1
        return came, ends

    def contents(self, body: bytes) -> Contents:
        """Return the content of a feed from a response body, in place of the parser."""
        number, version, response = body.decode().split(":")
        feed, last = self._numbered[number], int(version)
        items = range(last - 1, max(-1, last - 1 - feed.window), -1)
        return Contents(tuple(_item(feed, item, response) for item in items), feed.ttl)

    def is_healthy(self, feed: SimulatedFeed) -> bool:
        """Return whether a feed and its host always respond correctly."""
        return not (feed.outages or feed.broken or self._hosts[feed.host].outages)

    def _make_hosts(
        self, feeds: Iterable[SimulatedFeed], of_provider: set[str], random: Random
    ) -> dict[str, Host]:
        """Return the hosts; the provider's use other random numbers, which change no other host."""
        hosts = {host for feed in feeds for host in (feed.host, feed.link_host)}
        made = {host: self._host(self._random) for host in sorted(hosts - of_provider)}
        return made | {host: self._host(random) for host in sorted(of_provider)}

    def _host(self, random: Random) -> Host:
        latency = min(max(random.lognormvariate(-1.2, 0.9), LATENCY[0]), LATENCY[1])
        outages: tuple[Outage, ...] = ()
        if random.random() < 0.02:
            starts = random.uniform(START, self.end)
            asked = random.choice((None, 600, 3_600))
            hours = random.uniform(1, 6)
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
        response = "" if feed.volatile is None else f"{next(self._responses)}@{now:.0f}"
        return _listed(feed, response, headers, now, seconds), now + seconds

    def _observe_shared(self, host: str, now: float, ends: float) -> None:
        domain = self._domains[".".join(host.split(".")[-2:])]
        domain.observe(now, ends)
        if len(domain.ends) > DOMAIN_AT_ONCE or len(domain.begins) > DOMAIN_PER_SECOND:
            self.breaches["domain"] += 1
        address = self._at_address[self.address(host)]
        address.observe(now, ends)
        if len(address.ends) > ADDRESS_AT_ONCE:
            self.breaches["address"] += 1

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


def page_of(link: str) -> str:
    """Return the address of the page to which an item links, without its session."""
    return link.partition("?")[0]


def _item(feed: SimulatedFeed, item: int, response: str) -> FeedItem:
    """Return an item as the parser would; a response of a volatile feed has its own number."""
    link, time = item_page_address(feed, item), feed.date(item)
    published = None if time is None else _date(time)
    if feed.volatile is None:
        return FeedItem(link=link, published=published)
    number, _, at = response.partition("@")
    names = f"{_name(feed.number)} {_name(item)}"
    listed = FeedItem(
        link=link,
        title=f"Report about {names}",
        description=f"<p>What happened in {names}</p>",
        published=published,
    )
    if feed.volatile == COUNTER:
        return replace(listed, description=f"{listed.description} {number} comments")
    if feed.volatile == UPDATED:
        return replace(listed, updated=_date(float(at)))
    if feed.volatile == PUBLISHED:
        return replace(listed, published=_date(float(at)))
    return replace(listed, link=f"{link}?sid={number}")


def _name(number: int) -> str:
    """Return a word for a number."""
    return str(number).translate(_LETTERS)


@lru_cache(maxsize=200_000)
def _date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat()


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def _listed(
    feed: SimulatedFeed, response: str, headers: Mapping[str, str], now: float, seconds: float
) -> Response:
    version = feed.published(now)
    etag = f'"{version}:{response}"'
    said = {"etag": etag} if feed.has_etag else {}
    if feed.max_age is not None:
        said["cache-control"] = f"max-age={feed.max_age:.0f}"
    known = headers.get("If-None-Match")
    if known is not None and (known == etag or feed.broken):
        return Response(feed.url, 304, said, b"", seconds)
    return Response(feed.url, 200, said, f"{feed.number}:{version}:{response}".encode(), seconds)
