"""Benchmark of polling: delays and requests over three simulated days; a run takes minutes.

Three readers follow the same web: one polls at our intervals, one polls every 15 minutes, and one
polls every 60 minutes. Items of the first six hours are not counted, because the readers learn the
feeds and fetch old items in this time. The readers run for six more hours after the
three days. An item that is not fetched by then has no delay. Such an item counts as missed only if
it left the list of its feed before a poll.

Our rules also follow a hard web: one feed of ten changes at every poll, and a provider has 500
hosts below one domain and 100 with other domains, all at one address. The delay of all other feeds
is compared with their delay in a web without these feeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from statistics import mean, median, quantiles

from bench.figure import Bar, Benchmark, Measurement
from bench.pages import Pages
from bench.simulated_feeds import DAY, Hardships, SimulatedFeed
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

STEADY, VOLATILE, PROVIDER = "steady", "volatile", "provider"  # kinds of feeds

# One feed of ten is volatile, so 1,800 of the 2,000 feeds are steady.
TODAY = Hardships()
HARD = Hardships(volatile_each=10, subdomains=500, own_domains=100)
OTHERS = replace(HARD, are_left_out=True)

# Results of the release in which `poll` and `fetch` asked a host independently of each other.
BEFORE_MEDIAN, BEFORE_P90, BEFORE_POLLS = 13.4, 62.1, 24.6
BEFORE_MISSED, BEFORE_MISSED_FAILING = 98, 497


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The results of one reader.

    Attributes:
        delays: minutes between the publication of an item and the fetch of its page, sorted; items
            of feeds that are neither volatile nor of the provider.
        delays_volatile, delays_provider: the same, for items of these feeds.
        polls: number of polls for each feed and day.
        not_modified: share of polls whose response was 304.
        missed: number of items that left the list of a healthy feed before the reader saw them.
        missed_failing: number of items that the reader missed in the same way, of feeds that failed
            for a time or give false 304s.
        breaches: number of impolite requests.
        between: number of requests that began during another request of the same host.
        above_limits: number of requests above the limits of their domain or address.
        asked_volatile: mean number of requests for the page of an item of a volatile feed.
    """

    delays: list[float]
    delays_volatile: list[float]
    delays_provider: list[float]
    polls: float
    not_modified: float
    missed: int
    missed_failing: int
    breaches: int
    between: int
    above_limits: int
    asked_volatile: float


def measure(pages: Pages, rounds: int) -> Benchmark:  # noqa: ARG001 - neither is needed here
    """Follow today's web with each of the three rules for intervals, and the hard web with ours."""
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as workers:
        running = {name: workers.submit(simulate, rules) for name, rules in RULES.items()}
        hard, others = (
            workers.submit(simulate, RULES[OURS], hardships=each) for each in (HARD, OTHERS)
        )
        results = {name: future.result() for name, future in running.items()}
        figures = [*_figures(results), *_hard_figures(hard.result(), others.result())]
    return Benchmark("simulation", _method(results[OURS]), figures)


def simulate(  # noqa: PLR0913 - the properties of a run, passed by name
    rules: PollRules,
    *,
    feeds: int = FEEDS,
    sites: int = SITES,
    days: float = DAYS,
    seed: int = SEED,
    hardships: Hardships = TODAY,
) -> SimulationResult:
    """Follow simulated feeds with these rules for a number of days, and return the results."""
    counted = START + LEARNING, START + LEARNING + days * DAY
    web = SimulatedWeb(seed, feeds, sites, days + 2 * LEARNING / DAY, hardships)
    reader = SimulatedReader(web, rules)
    reader.run(web.end)
    delays: dict[str, list[float]] = {STEADY: [], VOLATILE: [], PROVIDER: []}
    missed, asked = Counter[bool](), list[int]()
    for feed in web.feeds.values():
        for item in range(feed.published(counted[0]), feed.published(counted[1])):
            link = item_page_address(feed, item)
            if feed.volatile is not None:
                asked.append(web.page_requests[link])
            if link in reader.fetched:
                delays[_kind(feed)].append((reader.fetched[link] - feed.times[item]) / 60)
            elif link not in reader.seen and feed.published(web.end) - item > feed.window:
                missed[web.is_healthy(feed)] += 1
    polls = [status for at, status in reader.polls if counted[0] <= at < counted[1]]
    return SimulationResult(
        delays=sorted(delays[STEADY]),
        delays_volatile=sorted(delays[VOLATILE]),
        delays_provider=sorted(delays[PROVIDER]),
        polls=len(polls) / len(web.feeds) / days,
        not_modified=polls.count(304) / len(polls),
        missed=missed[True],
        missed_failing=missed[False],
        breaches=web.breaches["feeds"] + web.breaches["pages"],
        between=web.breaches["between"],
        above_limits=web.breaches["domain"] + web.breaches["address"],
        asked_volatile=mean(asked) if asked else 0.0,
    )


def _kind(feed: SimulatedFeed) -> str:
    if feed.is_of_provider:
        return PROVIDER
    return VOLATILE if feed.volatile is not None else STEADY


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
    p90s = {who: _p90(result.delays) for who, result in results.items()}
    nothing = Bar(0, is_floor=False)
    yield beside("delay to raw-html, median", "min", middles, _at_most(1.05, BEFORE_MEDIAN))
    yield beside("delay to raw-html, p90", "min", p90s, _at_most(1.05, BEFORE_P90))
    yield beside("polls", "a feed and day", of("polls"), _at_most(1.02, BEFORE_POLLS))
    yield beside("polls answered with 304", "of all", of("not_modified"))
    yield beside(
        "items missed, healthy feeds", "items", of("missed"), _at_most(1.02, BEFORE_MISSED)
    )
    yield beside(
        "items missed, failing feeds",
        "items",
        of("missed_failing"),
        _at_most(1.02, BEFORE_MISSED_FAILING),
    )
    yield beside("impolite requests", "requests", of("breaches"), nothing)
    yield beside("overlapping requests of a host", "requests", of("between"), nothing)


def _hard_figures(hard: SimulationResult, others: SimulationResult) -> Iterator[Measurement]:
    """Return the results on the hard web, beside those without its hard feeds."""
    nothing, near = Bar(0, is_floor=False), Bar(1.1, is_floor=False)
    for name, part in (("median", median), ("p90", _p90)):
        ours, theirs = part(hard.delays), part(others.delays)
        yield Measurement(
            f"hard web: delay, {name}",
            ours / theirs,
            "times",
            note=f"of that without the hard feeds: {ours:.3g} and {theirs:.3g} min",
            bar=near,
        )
    yield Measurement(
        "hard web: page requests an item",
        hard.asked_volatile,
        "requests",
        note=f"volatile feeds; their median delay is {median(hard.delays_volatile):.3g} min",
        bar=near,
    )
    middle, p90 = median(hard.delays_provider), _p90(hard.delays_provider)
    yield Measurement(
        "hard web: delay of the provider",
        middle,
        "min",
        note=f"median; p90 {p90:.3g} min",
    )
    for name, value in (
        ("impolite requests", hard.breaches),
        ("overlapping requests", hard.between),
        ("above limits", hard.above_limits),
    ):
        yield Measurement(f"hard web: {name}", value, "requests", bar=nothing)


def _p90(values: Sequence[float]) -> float:
    return quantiles(values, n=10)[-1]


def _at_most(times: float, before: float) -> Bar:
    return Bar(times * before, is_floor=False)
