"""What a poll of a feed has found: all that its state is changed by.

It travels through the topic poll-outcomes (`models.poll_outcome`) to the agent that owns the
feed's state, and is sent only when the new items are safe in `fetches` (issue 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from urltree.crawl.decisions.response import Trouble


class PollResult(StrEnum):
    """How a poll ended."""

    ITEMS = "items"  # 200, parsed
    UNCHANGED = "unchanged"  # 304, or 200 with the same body
    FAILED = "failed"
    GONE = "gone"  # 410


@dataclass(frozen=True, slots=True)
class PolledItem:
    """An item in the feed's window.

    Attributes:
        hash: `Item.hash`.
        time: seconds since 1970 of its date, None where it has none.
        is_new: whether it was not in `seen_items` and has been sent to `fetches`.
    """

    hash: bytes
    time: float | None
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PollOutcome:
    """Of one poll.

    Attributes:
        site, feed: the key of the feed: registrable domain, and its URL as it was added.
        sequence: the state's at the poll, plus one; another one is stale and dropped.
        at: when the answer was complete, seconds since 1970.
        status: of the last answer, None where there was none.
        trouble, message: where it failed.
        moved_to: the address behind permanent redirects alone; None where there were none.
        etag, last_modified: verbatim, of the answer with the items.
        body_hash: xxh3_128 of the body, hex.
        max_age: Cache-Control, seconds; no_cache beats it.
        retry_after: seconds from `at`.
        title: of the feed.
        ttl: seconds, of <ttl> or sy:updatePeriod; skip_hours 0 to 23 in UTC, skip_days 0 = Monday.
        items: those of the feed's window, in its order.
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
