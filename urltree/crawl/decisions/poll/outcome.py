"""The outcome of a poll: everything that changes the feed's state.

It travels through the topic poll-outcomes (`models.poll_outcome`) to the agent that owns the feed's
state. It is sent only after Kafka has confirmed the new items in `fetches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from urltree.crawl.decisions.response import Trouble


class PollResult(StrEnum):
    """How a poll ended."""

    ITEMS = "items"  # status 200, and the body was parsed
    UNCHANGED = "unchanged"  # status 304, or 200 with an unchanged body
    FAILED = "failed"
    GONE = "gone"  # status 410


@dataclass(frozen=True, slots=True)
class PolledItem:
    """An item that a poll found in the feed.

    Attributes:
        hash: `FeedItem.hash`.
        time: date of the item, seconds since 1970; None without one.
        is_new: whether it was not in `seen_items` and was sent to `fetches`.
    """

    hash: bytes
    time: float | None
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PollOutcome:
    """The outcome of one poll.

    Attributes:
        site: registrable domain; part of the feed's key.
        feed: URL under which the feed was added; part of the feed's key.
        sequence: the state's sequence at the time of the poll plus one; others are dropped as
            stale.
        at: time at which the response was complete, seconds since 1970.
        result: how the poll ended.
        status: status of the last response; None without one.
        trouble, message: class and explanation of a failure.
        moved_to: address to which only permanent redirects led; None without any.
        etag, last_modified: validators of the response with the items, unchanged.
        body_hash: xxh3_128 of the body, hexadecimal.
        max_age: seconds of max-age in Cache-Control.
        no_cache: whether Cache-Control forbids caching; then max_age is ignored.
        retry_after: seconds from `at`.
        title: title of the feed.
        ttl: seconds that <ttl> or sy:updatePeriod ask for.
        skip_hours, skip_days: hours without polls, 0 to 23 in UTC, and days, 0 = Monday.
        items: items in the feed, in its order.
        seconds: latency.
    """

    site: str
    feed: str
    sequence: int
    at: float
    result: PollResult
    status: int | None = None
    trouble: Trouble | None = None
    message: str | None = None
    moved_to: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    max_age: float | None = None
    no_cache: bool = False
    retry_after: float | None = None
    title: str | None = None
    ttl: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    items: tuple[PolledItem, ...] = ()
    seconds: float = 0.0
