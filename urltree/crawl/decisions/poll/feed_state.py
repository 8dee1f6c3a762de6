"""The state of a feed between two polls: a row of table `feed_state`.

The row is JSON with a version, because it remains in Kafka when a new release is deployed. The
command `feeds list` reads the rows too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

import orjson

FEED_STATE_VERSION = 1


class FeedStateError(Exception):
    """A stored row of a feed or of its items that this release cannot read."""


class FeedStatus(StrEnum):
    """Whether and how often a feed is polled."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"  # the feed failed so often that it is polled only once a day
    GONE = "gone"  # status 410: the feed is not polled until it is added again


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """The state of one feed. Times are seconds since 1970.

    Attributes:
        site: registrable domain; part of the key.
        feed: URL under which the feed was added; part of the key.
        url: URL to poll. A permanent redirect that has lasted for seven days changes it.
        redirect: target of a permanent redirect that has not lasted for seven days yet; None if
            there is none.
        redirect_since: time at which this redirect was first seen.
        title: title that the feed gives itself; before that, the title with which it was added.
        meta: strings that the user gave; every page of this feed gets them.
        etag, last_modified: values of ETag and Last-Modified to send in the next request.
        body_hash: hash of the last body that was parsed, hexadecimal.
        next_due: time of the next poll.
        interval: seconds from which next_due was calculated.
        gaps: seconds between recent items, newest first, at most 20.
        newest: time of the newest item; without a date, the time at which a poll first found it.
        window: seconds between the oldest and the newest item in the feed; None if unknown.
        floor: minimum interval in seconds that the publisher asks for with ttl, max-age or sy:.
        skip_hours, skip_days: hours and days without polls, as in `PollOutcome`.
        errors: failures in a row.
        trouble, message: class and explanation of the last failure; None after a success.
        last_poll, last_success: time of the last poll, and of the last successful poll; None if
            there was none.
        unconditional_at: time of the last response that contained the items (status 200, not 304).
        items: total number of items that were sent to `fetches`.
        sequence: number of polls; an outcome is applied only if its sequence is the next one.
        swept_at: time at which expired rows of `seen_items` were last deleted.
    """

    site: str
    feed: str
    url: str
    redirect: str | None = None
    redirect_since: float | None = None
    title: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    next_due: float = 0.0
    interval: float = 0.0
    gaps: tuple[float, ...] = ()
    newest: float | None = None
    window: float | None = None
    floor: float = 0.0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    errors: int = 0
    trouble: str | None = None
    message: str | None = None
    last_poll: float | None = None
    last_success: float | None = None
    unconditional_at: float | None = None
    items: int = 0
    status: FeedStatus = FeedStatus.ACTIVE
    sequence: int = 0
    swept_at: float | None = None

    def encode(self) -> bytes:
        """Return the bytes of the row."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return orjson.dumps({"version": FEED_STATE_VERSION, **own})

    @classmethod
    def decode(cls, row: bytes) -> FeedState:
        """Return the state in the bytes of a row.

        Raises:
            FeedStateError: the row is damaged, or was written by another release.
        """
        try:
            fields: dict[str, Any] = orjson.loads(row)
            if fields.pop("version") != FEED_STATE_VERSION:
                raise ValueError(f"its version is not {FEED_STATE_VERSION}")  # noqa: TRY301
            for name in ("gaps", "skip_hours", "skip_days"):
                fields[name] = tuple(fields[name])
            fields["status"] = FeedStatus(fields["status"])
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FeedStateError(
                f"a row of table feed_state cannot be read: {error}; it is damaged, or another "
                "release has written it"
            ) from None


def new_feed_state(
    feed: str,
    site: str,
    now: float,
    title: str | None = None,
    meta: Mapping[str, str] = {},
) -> FeedState:
    """Return the state of a feed that was just added. It is due at once.

    Args:
        feed: URL of the feed.
        site: registrable domain of the feed.
        now: current time, seconds since 1970.
        title: title to show until the feed was parsed.
        meta: the user's own strings, which every page of the feed gets.
    """
    return FeedState(site=site, feed=feed, url=feed, title=title, meta=dict(meta), next_due=now)


def add_again(
    state: FeedState, now: float, title: str | None, meta: Mapping[str, str]
) -> FeedState:
    """Return the state of a feed that is added again: only title and meta change.

    A feed that is gone or quarantined becomes active again and is due at once.

    Args:
        state: current state.
        now: current time, seconds since 1970.
        title: title to show; None keeps the current one.
        meta: the user's own strings, which replace the current ones.
    """
    state = replace(state, title=title or state.title, meta=dict(meta))
    if state.status is FeedStatus.ACTIVE:
        return state
    return replace(
        state, status=FeedStatus.ACTIVE, errors=0, trouble=None, message=None, next_due=now
    )


def due_time(state: FeedState | None) -> float:
    """Return the time of the next poll of a feed; infinity if the feed was removed or is gone."""
    return math.inf if state is None or state.status is FeedStatus.GONE else state.next_due
