"""How soon, and at how many requests, feeds are read: three days in minutes (issue 4, row 2).

The same web is followed three times: with our intervals, every 15 and every 60 minutes. What is
published in the first six hours is not counted, for then readers only get to know the feeds, and
fetch what their lists held; what comes later than six hours after the end counts as not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median, quantiles

from bench.figure import Bar, Figure, Section
from bench.pages import Pages
from bench.simulated_feeds import DAY
from bench.simulated_reader import Reader
from bench.simulated_web import START, Web, page
from urltree.crawl.decisions.poll.interval import PollRules

FEEDS, SITES, DAYS, SEED = 2_000, 400, 3.0, 4
LEARNING = DAY / 4

OURS, EVERY_15, EVERY_60 = "ours", "every 15 min", "every 60 min"
RULES = {
    OURS: PollRules(),
    EVERY_15: PollRules(interval_min=900, interval_max=900),
    EVERY_60: PollRules(interval_min=3_600, interval_max=3_600),
}


@dataclass(frozen=True, slots=True)
class Result:
    """Of one reader.

    Attributes:
        delays: minutes from publication to the page, sorted.
        polls: of a feed and day; not_modified: share of them that was 304.
        missed: items that fell out of a list of a healthy feed unseen; missed_failing: of a feed
            that failed for a time, as its host may have, or lies with its 304s.
        breaches: of politeness towards a host, polls and pages each by themselves.
        between: polls during a fetch of a page of the same host, and the reverse.
    """

    delays: list[float]
    polls: float
    not_modified: float
    missed: int
    missed_failing: int
    breaches: int
    between: int


def measure(pages: Pages, rounds: int) -> Section:  # noqa: ARG001 - a simulation has no pages
    """Follow the web with each of the rules."""
    results = {name: simulate(rules) for name, rules in RULES.items()}
    return Section("simulation", _method(results[OURS]), list(_figures(results)))


def simulate(
    rules: PollRules,
    *,
    feeds: int = FEEDS,
    sites: int = SITES,
    days: float = DAYS,
    seed: int = SEED,
) -> Result:
    """Follow so many feeds for so many days."""
    counted = START + LEARNING, START + LEARNING + days * DAY
    web = Web(seed, feeds, sites, days + 2 * LEARNING / DAY)
    reader = Reader(web, rules)
    reader.run(web.end)
    delays, missed = [], {True: 0, False: 0}
    for feed in web.feeds.values():
        for item in range(feed.published(counted[0]), feed.published(counted[1])):
            link = page(feed, item)
            if link in reader.fetched:
                delays.append((reader.fetched[link] - feed.times[item]) / 60)
            elif link not in reader.seen and feed.published(web.end) - item > feed.window:
                missed[web.is_healthy(feed)] += 1
    polls = [status for at, status in reader.polls if counted[0] <= at < counted[1]]
    return Result(
        delays=sorted(delays),
        polls=len(polls) / feeds / days,
        not_modified=polls.count(304) / len(polls),
        missed=missed[True],
        missed_failing=missed[False],
        breaches=web.breaches["feeds"] + web.breaches["pages"],
        between=web.breaches["between"],
    )


def _method(ours: Result) -> str:
    return (
        f"{FEEDS:,} feeds of {SITES} simulated sites over {DAYS:g} days after six hours of "
        f"learning, seed {SEED}; {len(ours.delays):,} items"
    )


def _figures(results: dict[str, Result]) -> Iterator[Figure]:
    def beside(name: str, unit: str, values: dict[str, float], bar: Bar | None = None) -> Figure:
        others = "; ".join(f"{who} {value:,.3g}" for who, value in values.items() if who != OURS)
        return Figure(name, values[OURS], unit, note=others, bar=bar)

    def of(attribute: str) -> dict[str, float]:
        return {who: getattr(result, attribute) for who, result in results.items()}

    middles = {who: median(result.delays) for who, result in results.items()}
    p90s = {who: quantiles(result.delays, n=10)[-1] for who, result in results.items()}
    nothing = Bar(0, is_floor=False)
    yield beside("delay to raw-html, median", "min", middles)
    yield beside("delay to raw-html, p90", "min", p90s)
    yield beside("polls", "a feed and day", of("polls"))
    yield beside("polls that are 304", "of all", of("not_modified"))
    yield beside("items missed, healthy feeds", "items", of("missed"))
    yield beside("items missed, failing feeds", "items", of("missed_failing"))
    yield beside("breaches of politeness", "requests", of("breaches"), nothing)
    yield beside("a poll beside a page's fetch", "requests", of("between"))
