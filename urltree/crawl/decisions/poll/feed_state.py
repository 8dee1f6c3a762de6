"""What is kept of a feed between two polls: a row of the table `feed_state`.

Stored as JSON with a version: state in Kafka outlives every release, and `feeds list` reads it.
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
    """A row that this release cannot read: ours, no feed's fault."""


class FeedStatus(StrEnum):
    """Whether, and how, a feed is polled."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"  # failed so often that only rare probes are made
    GONE = "gone"  # 410: not polled until it is added again


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """Of one feed. Times are seconds since 1970.

    Attributes:
        site, feed: its key: registrable domain, and its URL as it was added.
        url: where it is now; moves when a permanent redirect has lasted.
        redirect, redirect_since: a permanent redirect that has not lasted yet.
        title: of the feed, else as it was added.
        meta: the user's own strings, given to every page of this feed.
        etag, last_modified: verbatim, to be sent back.
        body_hash: of the last body, hex.
        next_due: of the next poll.
        interval: seconds, that next_due was made of.
        gaps: seconds between recent items, newest first, at most 20.
        newest: time of the newest item, or when it was first seen where it has no date.
        window: seconds that the feed's list spans, None where unknown.
        floor: seconds that ttl, max-age or sy: ask for.
        skip_hours, skip_days: as in `Outcome`.
        errors: in a row; trouble and message of the last, None after a success.
        last_poll, last_success: None before the first.
        unconditional_at: when the last request without validators was answered.
        items: sent to fetches, in all.
        sequence: polls so far; an outcome is applied only if it is the next one.
        swept_at: when expired rows of `seen_items` were last deleted.
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
        """The row."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return orjson.dumps({"version": FEED_STATE_VERSION, **own})

    @classmethod
    def decode(cls, row: bytes) -> FeedState:
        """Read a row.

        Raises:
            StateError: it is of a release that this one does not know, or damaged.
        """
        try:
            fields: dict[str, Any] = orjson.loads(row)
            if fields.pop("version") != FEED_STATE_VERSION:
                raise ValueError(f"a version other than {FEED_STATE_VERSION}")  # noqa: TRY301
            for name in ("gaps", "skip_hours", "skip_days"):
                fields[name] = tuple(fields[name])
            fields["status"] = FeedStatus(fields["status"])
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FeedStateError(f"feed_state: {error}") from None


def new_feed_state(
    feed: str,
    site: str,
    now: float,
    title: str | None = None,
    meta: Mapping[str, str] = {},
) -> FeedState:
    """The state of a feed that was just added: due at once.

    Args:
        feed: its URL.
        site: its registrable domain.
        now: seconds since 1970.
        title: for people, until the feed says its own.
        meta: the user's own strings.
    """
    return FeedState(site=site, feed=feed, url=feed, title=title, meta=dict(meta), next_due=now)


def add_again(
    state: FeedState, now: float, title: str | None, meta: Mapping[str, str]
) -> FeedState:
    """The state of a feed that was there: it goes on, with what its user says of it now.

    One that was given up, gone or quarantined, is followed again and due at once: whoever adds it
    knows better.

    Args:
        state: so far.
        now: seconds since 1970.
        title: for people; None leaves the one that is there.
        meta: the user's own strings, instead of those before.
    """
    state = replace(state, title=title or state.title, meta=dict(meta))
    if state.status is FeedStatus.ACTIVE:
        return state
    return replace(
        state, status=FeedStatus.ACTIVE, errors=0, trouble=None, message=None, next_due=now
    )


def due_time(state: FeedState | None) -> float:
    """When a feed is to be polled; never, where nobody follows it or it is gone."""
    return math.inf if state is None or state.status is FeedStatus.GONE else state.next_due
