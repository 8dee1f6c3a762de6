"""Simulated feeds, whose publication times, lists of items and outages resemble the real web.

The rates of the feeds have a heavy-tailed distribution, from one item in ten minutes to one item a
week. They are higher by day than by night. Some feeds publish items in bursts, and some publish
several items at the same time. This module does not depend on how feeds are polled.

A hard web has two more kinds of feeds: volatile feeds, which change at every poll, and feeds of a
provider whose many hosts have one address.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0

RATES = (1 / 7, 144.0)  # lowest and highest number of items a day
MEDIAN_RATE, RATE_SIGMA = 4.0, 1.5
WINDOWS = (10, 10, 15, 20, 30, 50, 100)  # numbers of items that a feed lists
# Percentage of feeds by ttl or by max-age in seconds. WordPress gives each feed a ttl of an hour.
TTLS = {None: 55, 15 * MINUTE: 4, 30 * MINUTE: 3, HOUR: 34, 2 * HOUR: 2, DAY: 2}
MAX_AGES = {None: 55, 0.0: 5, 5 * MINUTE: 20, 10 * MINUTE: 14, HOUR: 5, 365 * DAY: 1}
SHARED_HOSTS = 10

PROVIDER = "provider.example"
# What changes at every poll of a volatile feed: a comment counter in all descriptions, the date of
# the last change, the date of publication, or a session in all links.
COUNTER, UPDATED, PUBLISHED, SESSION = VOLATILE = ("counter", "updated", "published", "session")


@dataclass(frozen=True, slots=True)
class Hardships:
    """What makes a web hard to follow.

    Attributes:
        volatile_each: every feed of this number is volatile; 0 for no volatile feeds.
        subdomains: number of hosts below the domain of a provider; each has one feed.
        own_domains: number of further hosts at the provider's address, with domains of their own.
        are_left_out: whether the volatile feeds and the provider are left out. The web then has
            only the other feeds, for comparison.
    """

    volatile_each: int = 0
    subdomains: int = 0
    own_domains: int = 0
    are_left_out: bool = False


@dataclass(frozen=True, slots=True)
class Outage:
    """A period in which a feed or a host gives no correct response.

    Attributes:
        starts, ends: start and end of the period, in seconds since 1970.
        status: HTTP status of each response; None if the connection times out.
        retry_after: seconds in the header Retry-After; None without this header.
    """

    starts: float
    ends: float
    status: int | None
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class SimulatedFeed:
    """A feed with all items that it will ever publish.

    Attributes:
        number: number of the feed.
        host: host of the feed.
        link_host: host of the pages to which the items link.
        times: publication times of all items, in rising order; the first ones are before the start
            of the simulation.
        window: number of items that the feed lists.
        dates: dates that the feed gives for its items: "exact", "day" (midnight) or "none".
        ttl: value of the element ttl in seconds; None without this element.
        max_age: max-age of Cache-Control in seconds; None without this header.
        has_etag: whether responses have an ETag.
        broken: whether the feed wrongly responds with 304 to every request with a validator.
        outages: periods without a correct response.
        volatile: what changes at every poll (`VOLATILE`); None for a feed that changes only when
            it publishes.
        is_of_provider: whether its host is at the provider's address.
    """

    number: int
    host: str
    link_host: str
    times: tuple[float, ...]
    window: int
    dates: str
    ttl: float | None
    max_age: float | None
    has_etag: bool
    broken: bool
    outages: tuple[Outage, ...]
    volatile: str | None = None
    is_of_provider: bool = False

    @property
    def is_steady(self) -> bool:
        """Whether the feed is neither volatile nor of the provider."""
        return self.volatile is None and not self.is_of_provider

    @property
    def url(self) -> str:
        """The address of the feed."""
        return f"https://{self.host}/feed/{self.number}"

    def published(self, now: float) -> int:
        """Return the number of items that were published until `now`."""
        return bisect_right(self.times, now)

    def date(self, item: int) -> float | None:
        """Return the date that the feed gives for an item; None if it gives no dates."""
        if self.dates == "none":
            return None
        return self.times[item] // DAY * DAY if self.dates == "day" else self.times[item]


def make_feeds(
    random: Random, feeds: int, sites: int, start: float, end: float
) -> Iterator[SimulatedFeed]:
    """Yield feeds of several sites; they publish items from before `start` until `end`."""
    for number in range(feeds):
        site = number if number < sites else int(sites * random.random() ** 2)
        host = f"www.site{site}.example"
        shared = f"shared{random.randrange(SHARED_HOSTS)}.example"
        window = random.choice(WINDOWS)
        yield SimulatedFeed(
            number=number,
            host=host,
            link_host=shared if random.random() < 0.15 else host,
            times=tuple(_times(random, window, start, end)),
            window=window,
            dates=random.choices(("exact", "day", "none"), (90, 5, 5))[0],
            ttl=_drawn(random, TTLS),
            max_age=_drawn(random, MAX_AGES),
            has_etag=random.random() < 0.85,
            broken=random.random() < 0.01,
            outages=tuple(_outages(random, start, end)),
        )


def make_hard_feeds(
    feeds: Iterator[SimulatedFeed], hardships: Hardships, random: Random, start: float, end: float
) -> Iterator[SimulatedFeed]:
    """Yield feeds, some of which become volatile, and then the feeds of the provider."""
    number, each = -1, hardships.volatile_each
    for number, feed in enumerate(feeds):
        if each and number % each == each - 1:
            yield replace(feed, volatile=VOLATILE[number // each % len(VOLATILE)])
        else:
            yield feed
    hosts = [f"blog{n}.{PROVIDER}" for n in range(hardships.subdomains)]
    hosts += [f"www.blog{n}.example" for n in range(hardships.own_domains)]
    made = make_feeds(random, len(hosts), len(hosts), start, end)
    for host, feed in zip(hosts, made, strict=True):
        number += 1
        yield replace(feed, number=number, host=host, link_host=host, is_of_provider=True)


def _drawn(random: Random, shares: Mapping[float | None, int]) -> float | None:
    return random.choices(list(shares), list(shares.values()))[0]


def _outages(random: Random, start: float, end: float) -> Iterator[Outage]:
    """Yield outages of a feed: one feed in twenty fails for hours, one in fifty fails forever."""
    if random.random() < 0.05:
        starts = random.uniform(start, end)
        status = random.choice((500, 503, None))
        asked = random.choice((None, 1_800)) if status == 503 else None
        yield Outage(starts, starts + random.uniform(1, 12) * HOUR, status, asked)
    if random.random() < 0.02:
        yield Outage(random.uniform(start - DAY, end), math.inf, random.choice((404, 410, None)))


def _times(random: Random, window: int, start: float, end: float) -> list[float]:
    """Return the publication times of a feed, in rising order.

    They are drawn backwards from `end`, until `window` items are older than `start`.
    """
    drawn = MEDIAN_RATE * math.exp(random.gauss(0, RATE_SIGMA))
    rate = min(max(drawn, RATES[0]), RATES[1]) / DAY
    noon, swing = random.uniform(0, DAY), random.choice((0.0, 0.6, 0.9, 1.0))
    burst = random.choice((0.0, 0.0, 0.1, 0.3))
    batch = random.choice((1, 1, 1, 1, 1, 1, 1, 1, 1, 5))
    times: list[float] = []
    before = 0
    time = end
    while before < window:
        time -= random.expovariate(2 * rate / batch)
        if 2 * random.random() > 1 + swing * math.cos((time - noon) / DAY * math.tau):
            continue
        more = random.randint(1, 5) if random.random() < burst else 0
        times += [time] * batch
        times += [time + random.uniform(20, 600) for _ in range(more)]
        before += (batch + more) * (time < start)
    return sorted(time for time in times if time < end)
