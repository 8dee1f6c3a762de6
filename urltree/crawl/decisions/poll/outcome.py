"""The outcome of a poll: everything that changes the feed's state.

The topic poll-outcomes (`models.crawl.poll_outcome`) carries the outcome to the agent that owns the
feed's state. The outcome is sent only after Kafka has confirmed the new items in `fetches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from urltree.crawl.decisions.response import Trouble


class PollResult(StrEnum):
    """The result of a poll."""

    ITEMS = "items"  # status 200, and the body was parsed
    UNCHANGED = "unchanged"  # status 304, or 200 with an unchanged body
    FAILED = "failed"
    GONE = "gone"  # status 410


@dataclass(frozen=True, slots=True)
class PolledItem:
    """An item that a poll found in the feed.

    Attributes:
        hash: `FeedItem.hash` of the item.
        time: date of the item, seconds since 1970; None if the item has no date.
        is_new: True if `seen_items` did not contain the item, which was then sent to `fetches`.
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
        sequence: the sequence of the feed's state at the start of the poll, plus one. An outcome
            with another sequence is dropped as stale.
        at: time at which the response was complete, seconds since 1970.
        result: result of the poll.
        status: status of the last response; None if there was no response.
        trouble, message: class and explanation of a failure.
        moved_to: address to which permanent redirects led before any other redirect; None if the
            first response was no permanent redirect.
        etag, last_modified: headers ETag and Last-Modified of the response, unchanged.
        body_hash: xxh3_128 of the body, hexadecimal.
        max_age: seconds for which the response stays fresh, from its headers; None if unknown.
        no_cache: whether the headers forbid caching; max_age is then ignored.
        retry_after: seconds to wait after `at`, from the header Retry-After; None without it.
        title: title of the feed.
        ttl: seconds between polls that the feed asks for with <ttl> or sy:updatePeriod.
        skip_hours: hours without polls, 0 to 23 in UTC.
        skip_days: days without polls, 0 = Monday.
        items: items of the feed, in the feed's order.
        seconds: longest latency of a response to the poll, redirects included, in seconds.
        unread: number of items that were not read, because there were too many.
        unlinked: number of items without a usable link.
        is_cut: whether the body was larger than the limit, so that only its beginning was read.
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
    unread: int = 0
    unlinked: int = 0
    is_cut: bool = False
