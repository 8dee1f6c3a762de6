"""Builders of feed states and of the outcomes of polls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import xxhash

from urltree.crawl.decisions.poll.feed_state import FeedState, new_feed_state
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.poll.transition import apply_outcome

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
NOW = 1_800_000_000.0  # Friday, 15 January 2027, 08:00 UTC

SITE, FEED = "news.example", "http://www.news.example/feed"
RULES = PollRules(interval_min=15 * MINUTE, interval_max=6 * HOUR, quarantine_errors=20)


def feed(**fields: Any) -> FeedState:
    """Return the state of a feed that was just added, with the given fields replaced."""
    return replace(new_feed_state(FEED, SITE, NOW), **fields)


def item(time: float | None, name: str = "", *, is_new: bool = True) -> PolledItem:
    """Return a polled item with this publication time in seconds since 1970."""
    return PolledItem(xxhash.xxh3_128_digest(f"{time} {name}".encode()), time, is_new)


def every(gap: float, count: int = 20, until: float = NOW) -> tuple[PolledItem, ...]:
    """Return `count` items that were published every `gap` seconds until `until`, newest first."""
    return tuple(item(until - number * gap) for number in range(count))


def poll(state: FeedState, result: PollResult = PollResult.UNCHANGED, **fields: Any) -> FeedState:
    """Return the feed's state after a poll at the time `at`; by default, when the feed is due."""
    status = {
        PollResult.ITEMS: 200,
        PollResult.UNCHANGED: 304,
        PollResult.FAILED: 500,
        PollResult.GONE: 410,
    }
    found = {"at": state.next_due, "status": status[result], **fields}
    outcome = PollOutcome(
        site=state.site, feed=state.feed, sequence=state.sequence + 1, result=result, **found
    )
    return apply_outcome(state, outcome, RULES)


def polled(*items: PolledItem, **fields: Any) -> FeedState:
    """Return the state of a feed after its first poll, which found these items."""
    return poll(feed(), PollResult.ITEMS, items=items, **fields)


def failed(state: FeedState, times: int = 1, **fields: Any) -> FeedState:
    """Return the feed's state after `times` further polls that failed."""
    for _ in range(times):
        state = poll(state, PollResult.FAILED, **fields)
    return state
