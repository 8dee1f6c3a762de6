"""Benchmark of polling: delays and requests over three simulated days; a run takes minutes.

Three readers follow the same web: one polls at our intervals, one polls every 15 minutes, and one
polls every 60 minutes. Items of the first six hours are not counted, because the readers learn the
feeds and fetch old items in this time. The readers run for six more hours after the
three days. An item that is not fetched by then has no delay. Such an item counts as missed only if
it left the list of its feed before a poll.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median, quantiles

from bench.figure import Bar, Benchmark, Measurement
from bench.pages import Pages
from bench.simulated_feeds import DAY
from bench.simulated_reader import SimulatedReader
from bench.simulated_web import START, SimulatedWeb, item_page_address
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
class SimulationResult:
    """The results of one reader.

    Attributes:
        delays: minutes between the publication of an item and the fetch of its page, sorted.
        polls: number of polls for each feed and day.
        not_modified: share of polls whose response was 304.
        missed: number of items that left the list of a healthy feed before the reader saw them.
        missed_failing: number of items that the reader missed in the same way, of feeds that failed
            for a time or give false 304s.
        breaches: number of impolite requests.
        between: number of requests that began during another request of the same host.
    """

    delays: list[float]
    polls: float
    not_modified: float
    missed: int
    missed_failing: int
    breaches: int
    between: int


def measure(pages: Pages, rounds: int) -> Benchmark:  # noqa: ARG001 - neither is needed here
    """Follow the simulated web with each of the three rules for intervals."""
    results = {name: simulate(rules) for name, rules in RULES.items()}
    return Benchmark("simulation", _method(results[OURS]), list(_figures(results)))


def simulate(
    rules: PollRules,
    *,
    feeds: int = FEEDS,
    sites: int = SITES,
    days: float = DAYS,
    seed: int = SEED,
) -> SimulationResult:
    """Follow simulated feeds with these rules for a number of days, and return the results."""
    counted = START + LEARNING, START + LEARNING + days * DAY
    web = SimulatedWeb(seed, feeds, sites, days + 2 * LEARNING / DAY)
    reader = SimulatedReader(web, rules)
    reader.run(web.end)
    delays, missed = [], {True: 0, False: 0}
    for feed in web.feeds.values():
        for item in range(feed.published(counted[0]), feed.published(counted[1])):
            link = item_page_address(feed, item)
            if link in reader.fetched:
                delays.append((reader.fetched[link] - feed.times[item]) / 60)
            elif link not in reader.seen and feed.published(web.end) - item > feed.window:
                missed[web.is_healthy(feed)] += 1
    polls = [status for at, status in reader.polls if counted[0] <= at < counted[1]]
    return SimulationResult(
        delays=sorted(delays),
        polls=len(polls) / feeds / days,
        not_modified=polls.count(304) / len(polls),
        missed=missed[True],
        missed_failing=missed[False],
        breaches=web.breaches["feeds"] + web.breaches["pages"],
        between=web.breaches["between"],
    )


def _method(ours: SimulationResult) -> str:
    return (
        f"{FEEDS:,} feeds of {SITES} simulated sites over {DAYS:g} days after six hours of "
        f"learning, seed {SEED}; {len(ours.delays):,} items"
    )


def _figures(results: dict[str, SimulationResult]) -> Iterator[Measurement]:
    def beside(
        name: str, unit: str, values: dict[str, float], bar: Bar | None = None
    ) -> Measurement:
        others = "; ".join(f"{who} {value:,.3g}" for who, value in values.items() if who != OURS)
        return Measurement(name, values[OURS], unit, note=others, bar=bar)

    def of(attribute: str) -> dict[str, float]:
        return {who: getattr(result, attribute) for who, result in results.items()}

    middles = {who: median(result.delays) for who, result in results.items()}
    p90s = {who: quantiles(result.delays, n=10)[-1] for who, result in results.items()}
    nothing = Bar(0, is_floor=False)
    yield beside("delay to raw-html, median", "min", middles)
    yield beside("delay to raw-html, p90", "min", p90s)
    yield beside("polls", "a feed and day", of("polls"))
    yield beside("polls answered with 304", "of all", of("not_modified"))
    yield beside("items missed, healthy feeds", "items", of("missed"))
    yield beside("items missed, failing feeds", "items", of("missed_failing"))
    yield beside("impolite requests", "requests", of("breaches"), nothing)
    yield beside("overlapping requests of a host", "requests", of("between"), nothing)
