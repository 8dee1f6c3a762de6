"""A feed reader with a simulated clock. It uses the decisions of the job's own modules.

    schedule ──due──▶ host's queue ──▶ limits ──▶ response ──▶ apply_outcome() ──▶ schedule
                        ▲   ▲                          ╰─ new items ─╮
                        │   ╰─────────────── pages ◀─────────────────╯
                        feeds go before pages

As in the job, each host has one queue for feeds and pages, and one pause between requests. The
limits of domains and addresses are those of one worker. Only the web and the parser are simulated.
The reader requests no robots.txt. It decides which items of volatile feeds are new as the job does;
those of other feeds it knows by their links, with the same result in a tenth of the time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import count

import xxhash

from bench.simulated_limits import SimulatedLimits
from bench.simulated_web import (
    ADDRESS_AT_ONCE,
    DOMAIN_AT_ONCE,
    DOMAIN_PER_SECOND,
    LATENCY_FACTOR,
    PAUSE,
    PAUSE_MAX,
    START,
    TIMEOUT,
    SimulatedWeb,
    page_of,
)
from urltree.crawl.decisions import caching
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.host import host_state
from urltree.crawl.decisions.host.host_queues import HostQueues
from urltree.crawl.decisions.host.host_state import HostState, Politeness
from urltree.crawl.decisions.host.shared_limits import SharedLimits
from urltree.crawl.decisions.poll import transition
from urltree.crawl.decisions.poll.feed_state import FeedState, new_feed_state
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.item_decision import ItemRules, decide_items
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.poll.schedule import Schedule
from urltree.crawl.decisions.poll.seen_items import SeenItemRow, item_time
from urltree.crawl.decisions.response import Response, Trouble, WebError

ATTEMPTS = 6  # number of requests for a page after which the reader gives the page up

_POLITENESS = Politeness(PAUSE, PAUSE_MAX, LATENCY_FACTOR)


class SimulatedReader:
    """A reader that follows all feeds of a simulated web.

    Attributes:
        fetched: time at which each page was fetched, by the page's address.
        seen: time at which each page was first found in a feed, by the page's address.
        polls: (time, HTTP status) of each poll.
    """

    def __init__(self, web: SimulatedWeb, rules: PollRules) -> None:
        self.fetched: dict[str, float] = {}
        self.seen: dict[str, float] = {}
        self.polls: list[tuple[float, int | None]] = []
        self._web, self._rules = web, rules
        self._schedule = Schedule()
        self._rows: dict[bytes, SeenItemRow] = {}  # of volatile feeds; their keys differ by site
        self._states = {
            url: new_feed_state(url, feed.host, START) for url, feed in web.feeds.items()
        }
        self._queues: HostQueues[str] = HostQueues()  # addresses of feeds and pages
        self._hosts: dict[str, HostState] = {}
        self._attempts: Counter[str] = Counter()
        self._later: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = count()
        shared = SharedLimits(DOMAIN_AT_ONCE, DOMAIN_PER_SECOND)
        self._limits = SimulatedLimits(shared, ADDRESS_AT_ONCE, web.address, self._at)

    def run(self, until: float) -> None:
        """Follow the feeds from the start of the simulation until a time."""
        for url, state in self._states.items():
            self._schedule.put((0, url.encode()), state.next_due)
        while (now := self._next()) <= until:
            while self._later and self._later[0][0] <= now:
                heappop(self._later)[2](now)
            for _, feed in self._schedule.pop(now):
                self._queue_feed(feed.decode(), now)
            for host, url in self._queues.take(now):
                request = self._poll if url in self._states else self._fetch
                self._limits.wait(host, now, partial(request, url))

    def _next(self) -> float:
        times = (self._schedule.next_due(), self._queues.next_at())
        later = self._later[0][0] if self._later else math.inf
        return min(later, *(math.inf if time is None else time for time in times))

    def _at(self, time: float, then: Callable[[float], None]) -> None:
        heappush(self._later, (time, next(self._numbers), then))

    def _queue_feed(self, url: str, now: float) -> None:
        """Put a due feed into the queue of its host, or postpone it while its host rests."""
        host = _host_of(url)
        rests_until = self._hosts[host].backoff_until if host in self._hosts else 0.0
        if rests_until > now:
            self._at(rests_until, lambda now: self._queue_feed(url, now))
        else:
            self._queues.add(host, url, now, is_small=True)

    def _poll(self, url: str, now: float) -> None:
        state = self._states[url]
        came, ends = self._web.ask(state.url, transition.conditional_headers(state, now), now)
        self._at(ends, lambda now: self._polled(state, came, now))

    def _polled(self, state: FeedState, came: Response | WebError, now: float) -> None:
        state, outcome = self._outcome(state, came, now)
        self.polls.append((now, outcome.status))
        state = transition.apply_outcome(state, outcome, self._rules)
        self._states[state.feed] = state
        self._schedule.put(
            (0, state.feed.encode()), transition.due_after_takeover(state, now, self._rules)
        )
        if isinstance(came, Response) and came.status == 503:  # as in `agents.fetching.host_client`
            came = replace(came, status=502)
        self._rest(_host_of(state.url), came, now)

    def _outcome(
        self, state: FeedState, came: Response | WebError, now: float
    ) -> tuple[FeedState, PollOutcome]:
        """Return the outcome of a poll, and the state with what the items have shown."""
        if isinstance(came, WebError):
            return state, _outcome(state, now, None, PollResult.FAILED, came.trouble)
        body = came.body.decode()
        if came.status == 304 or (came.status == 200 and body == state.body_hash):
            return state, _outcome(state, now, came, PollResult.UNCHANGED)
        if came.status != 200:
            result = PollResult.GONE if came.status == 410 else PollResult.FAILED
            return state, _outcome(state, now, came, result)
        contents = self._web.contents(came.body)
        if self._web.feeds[state.feed].volatile is None:
            polled, new = self._decide_by_link(contents.items)
        else:
            decision = decide_items(contents.items, state, self._rows.get, now, ItemRules())
            self._rows |= decision.rows
            state, polled, new = decision.state, decision.items, list(decision.new)
        for item in new:
            self.seen.setdefault(page_of(item.link), now)
            self._queues.add(_host_of(item.link), item.link, now)
        outcome = _outcome(state, now, came, PollResult.ITEMS)
        return state, replace(outcome, body_hash=body, ttl=contents.ttl, items=polled)

    def _decide_by_link(
        self, items: Sequence[FeedItem]
    ) -> tuple[tuple[PolledItem, ...], list[FeedItem]]:
        """Return all items for the rhythm of their feed, and the new ones."""
        new = [item for item in items if item.link not in self.seen]
        links = {item.link for item in new}
        polled = tuple(
            PolledItem(_link_hash(item.link), _time(item), item.link in links) for item in items
        )
        return polled, new

    def _fetch(self, url: str, now: float) -> None:
        came, ends = self._web.ask(url, {}, now)
        self._at(ends, lambda now: self._came(url, came, now))

    def _came(self, url: str, came: Response | WebError, now: float) -> None:
        if isinstance(came, Response) and came.status == 200:
            self.fetched.setdefault(page_of(url), now)
        elif isinstance(came, Response) and came.status in (429, 503):
            # the page waits until the host accepts requests again
            self._queues.add(_host_of(url), url, now)
        else:
            self._attempts[url] += 1
            if (attempt := self._attempts[url]) < ATTEMPTS:
                at = host_state.retry_at(url, attempt, now)
                self._at(at, lambda now: self._queues.add(_host_of(url), url, now))
        self._rest(_host_of(url), came, now)

    def _rest(self, name: str, came: Response | WebError, now: float) -> None:
        before = self._hosts.get(name) or HostState(host=name)
        asked = caching.retry_after(came.headers, now) if isinstance(came, Response) else None
        self._hosts[name] = host_state.update_after_response(
            before, came, now, _POLITENESS, retry_after=asked
        )
        self._queues.done(name, self._hosts[name].next_request_at)
        self._limits.end(name, now)


@lru_cache(maxsize=200_000)
def _link_hash(link: str) -> bytes:
    return xxhash.xxh3_128_digest(link.encode())


@lru_cache(maxsize=200_000)
def _time_of(published: str) -> float | None:
    return item_time(FeedItem(link="", published=published))


def _time(item: FeedItem) -> float | None:
    return None if item.published is None else _time_of(item.published)


def _host_of(url: str) -> str:
    return url.split("/", 3)[2]


def _outcome(
    state: FeedState,
    now: float,
    came: Response | None,
    result: PollResult,
    trouble: Trouble | None = None,
) -> PollOutcome:
    said = {} if came is None else came.headers
    max_age, no_cache = caching.max_age(said)
    return PollOutcome(
        site=state.site,
        feed=state.feed,
        sequence=state.sequence + 1,
        at=now,
        result=result,
        status=came.status if came else None,
        trouble=trouble or (Trouble.STATUS if result is PollResult.FAILED else None),
        etag=said.get("etag"),
        max_age=max_age,
        no_cache=no_cache,
        retry_after=caching.retry_after(said, now),
        seconds=came.seconds if came else TIMEOUT,
    )
