"""A reader with a clock of its own: the real decisions, moved by events instead of Kafka.

    schedule ──due──▶ polls, a queue a host ──▶ answer ──▶ after() ──▶ schedule
                                                  ╰─ new items ──▶ pages, a queue a host ──▶ fetched

As in the job, feeds and pages have queues and host states of their own: `poll` and `fetch` are two
stages. Only the web, the parser and robots.txt are not real.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count

import xxhash

from bench.simulated_web import LATENCY_FACTOR, PAUSE, PAUSE_MAX, START, Web
from urltree.feeds import caching, host, polling
from urltree.feeds.answer import Answer, Trouble, WebError
from urltree.feeds.host import HostState, Politeness
from urltree.feeds.host_queues import HostQueues
from urltree.feeds.interval import Rules
from urltree.feeds.outcome import Outcome, Result, SeenItem
from urltree.feeds.schedule import Schedule
from urltree.feeds.state import FeedState

ATTEMPTS = 6  # at a page

_POLITENESS = Politeness(PAUSE, PAUSE_MAX, LATENCY_FACTOR)


@dataclass
class Asked:
    """Requests to hosts, in turn, and what is known of these.

    Attributes:
        send: what is done with a token whose turn has come.
    """

    send: Callable[[str, float], None]
    queues: HostQueues[str] = field(default_factory=HostQueues)
    hosts: dict[str, HostState] = field(default_factory=dict)

    def add(self, url: str, now: float) -> None:
        """Wait for the host's turn."""
        self.queues.add(url.split("/")[2], url, now)

    def answered(self, url: str, came: Answer | WebError, now: float) -> None:
        """Free the host, and let it rest."""
        name = url.split("/")[2]
        before = self.hosts.get(name) or HostState(host=name)
        asked = caching.retry_after(came.headers, now) if isinstance(came, Answer) else None
        self.hosts[name] = host.after(before, came, now, _POLITENESS, retry_after=asked)
        self.queues.done(name, self.hosts[name].turn)


class Reader:
    """Follows all feeds of a web.

    Attributes:
        fetched: when each page was there; seen: when each was found in a list.
        polls: (time, status) of each.
    """

    def __init__(self, web: Web, rules: Rules) -> None:
        self.fetched: dict[str, float] = {}
        self.seen: dict[str, float] = {}
        self.polls: list[tuple[float, int | None]] = []
        self._web, self._rules = web, rules
        self._schedule = Schedule()
        self._states = {
            url: polling.first(url, feed.host, START) for url, feed in web.feeds.items()
        }
        self._feeds, self._pages = Asked(self._poll), Asked(self._fetch)
        self._attempts: Counter[str] = Counter()
        self._later: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = count()

    def run(self, until: float) -> None:
        """From the start on."""
        for url, state in self._states.items():
            self._schedule.put((0, url.encode()), state.next_due)
        while (now := self._next()) <= until:
            while self._later and self._later[0][0] <= now:
                heappop(self._later)[2](now)
            for _, feed in self._schedule.pop(now):
                self._feeds.add(feed.decode(), now)
            for asked in (self._feeds, self._pages):
                for _, url in asked.queues.take(now):
                    asked.send(url, now)

    def _next(self) -> float:
        times = (
            self._schedule.next_due(),
            *(a.queues.next_at() for a in (self._feeds, self._pages)),
        )
        later = self._later[0][0] if self._later else math.inf
        return min(later, *(math.inf if time is None else time for time in times))

    def _at(self, time: float, then: Callable[[float], None]) -> None:
        heappush(self._later, (time, next(self._numbers), then))

    def _poll(self, url: str, now: float) -> None:
        state = self._states[url]
        came, ends = self._web.ask(state.url, polling.headers(state, now), now)
        self._at(ends, lambda now: self._polled(state, came, now))

    def _polled(self, state: FeedState, came: Answer | WebError, now: float) -> None:
        outcome = self._outcome(state, came, now)
        self.polls.append((now, outcome.status))
        state = polling.after(state, outcome, self._rules)
        self._states[state.feed] = state
        self._schedule.put((0, state.feed.encode()), polling.overdue(state, now))
        self._feeds.answered(state.url, came, now)

    def _outcome(self, state: FeedState, came: Answer | WebError, now: float) -> Outcome:
        if isinstance(came, WebError):
            return _outcome(state, now, None, Result.FAILED, came.trouble)
        body = came.body.decode()
        if came.status == 304 or (came.status == 200 and body == state.body_hash):
            return _outcome(state, now, came, Result.UNCHANGED)
        if came.status != 200:
            result = Result.GONE if came.status == 410 else Result.FAILED
            return _outcome(state, now, came, result)
        contents = self._web.contents(came.body)
        items = []
        for link, time in contents.items:
            is_new = link not in self.seen
            if is_new:
                self.seen[link] = now
                self._pages.add(link, now)
            items.append(SeenItem(xxhash.xxh3_128_digest(link.encode()), time, is_new))
        outcome = _outcome(state, now, came, Result.ITEMS)
        return replace(outcome, body_hash=body, ttl=contents.ttl, items=tuple(items))

    def _fetch(self, url: str, now: float) -> None:
        came, ends = self._web.ask(url, {}, now)
        self._at(ends, lambda now: self._came(url, came, now))

    def _came(self, url: str, came: Answer | WebError, now: float) -> None:
        if isinstance(came, Answer) and came.status == 200:
            self.fetched[url] = now
        elif isinstance(came, Answer) and came.status in (429, 503):
            self._pages.add(url, now)  # the host backs off; it is no failure of the page
        else:
            self._attempts[url] += 1
            if (attempt := self._attempts[url]) < ATTEMPTS:
                at = host.retry_at(url, attempt, now)
                self._at(at, lambda now: self._pages.add(url, now))
        self._pages.answered(url, came, now)


def _outcome(
    state: FeedState,
    now: float,
    came: Answer | None,
    result: Result,
    trouble: Trouble | None = None,
) -> Outcome:
    said = {} if came is None else came.headers
    max_age, no_cache = caching.max_age(said)
    return Outcome(
        site=state.site,
        feed=state.feed,
        sequence=state.sequence + 1,
        at=now,
        result=result,
        status=came.status if came else None,
        trouble=trouble or (Trouble.STATUS if result is Result.FAILED else None),
        etag=said.get("etag"),
        max_age=max_age,
        no_cache=no_cache,
        retry_after=caching.retry_after(said, now),
    )
