"""The state of a source between two polls: a row of table `feed_state`.

The row is JSON with a version, because it remains in Kafka when a new release is deployed. The
command `feeds list` reads the rows too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

import orjson

from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions
from urltree.crawl.decisions.timing import DAY

FEED_STATE_VERSION = 1
DEFAULT_OPTIONS = SourceOptions()
NOT_POLLED_SINCE = 0.0  # `migrating_until` of a row that a release before 0.3 wrote


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
        migrating_until: time until which an item also counts as known by its former hash. None if
            the feed was added by this release; 0 if a release before 0.3 wrote the row, and the
            feed was not polled since.
        options: the user's options of the source.
        offset: offset of the record of `feeds` that added the source.
        was_read: whether a poll has read the items, so that the first poll is over.
        parent: address of the index that names this sitemap; None for a source of its own.
        modified: time of the last change of this sitemap, according to its index.
        read_modified: value of `modified` at the last successful poll.
        seen_before: pages of a sitemap that are not newer than this time count as seen.
        learned: what was learned about the links of a section page; JSON that `section` reads.
        guids_count: whether the guids of this feed identify its items.
        guids_changed: number of successive polls at which most known items had another guid.
        updated_counts: whether the dates `updated` stay the same while an item stays the same.
        revisit_day, revisits: a day, in days since 1970, and the number of revisits on it.
        unread: number of items of the last body that were not read, because there were too many.
        unlinked: number of items of the last body without a usable link.
        is_cut: whether only the beginning of the last body was read, because it was too large.
        walls: total number of pages that were walls.
        coverage: shares of a page's text that the feed's text covers; see `PageReport`.
        content_decided, content_decided_at: result of the last comparison for `content: auto`, and
            its time; None before the first one.
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
    migrating_until: float | None = None
    options: SourceOptions = DEFAULT_OPTIONS
    offset: int | None = None
    was_read: bool = False
    parent: str | None = None
    modified: float | None = None
    read_modified: float | None = None
    seen_before: float | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    guids_count: bool = True
    guids_changed: int = 0
    updated_counts: bool = False
    revisit_day: int = 0
    revisits: int = 0
    unread: int = 0
    unlinked: int = 0
    is_cut: bool = False
    walls: int = 0
    coverage: tuple[float, ...] = ()
    content_decided: Content | None = None
    content_decided_at: float | None = None

    def encode(self) -> bytes:
        """Return the bytes of the row.

        Fields that releases before 0.3 do not know are left out if they have their default. Only
        `migrating_until` is always written: it makes such a release refuse the row.
        """
        own = {name: getattr(self, name) for name in _ALWAYS}
        for name, default in _DEFAULTS.items():
            if (found := getattr(self, name)) != default:
                own[name] = found
        if "options" in own:
            own["options"] = _options_fields(self.options)
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
            if "migrating_until" not in fields:
                fields |= {
                    "migrating_until": NOT_POLLED_SINCE,
                    "was_read": fields["unconditional_at"] is not None,
                }
            if "options" in fields:
                fields["options"] = _options(fields["options"])
            if "coverage" in fields:
                fields["coverage"] = tuple(fields["coverage"])
            if "content_decided" in fields:
                fields["content_decided"] = Content(fields["content_decided"])
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FeedStateError(
                f"a row of table feed_state cannot be read: {error}; it is damaged, or another "
                "release has written it"
            ) from None


_NAMES = tuple(one.name for one in fields(FeedState))
_ALWAYS = _NAMES[: _NAMES.index("migrating_until") + 1]
_DEFAULTS: dict[str, Any] = {
    one.name: one.default if one.default is not MISSING else {}
    for one in fields(FeedState)
    if one.name not in _ALWAYS
}
_OPTIONS = {one.name: one.default for one in fields(SourceOptions)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a record of the topic `feeds` says about a source.

    Attributes:
        title: title to show until the source was parsed.
        meta: the user's own strings, which every page of the source gets.
        options: the user's options of the source.
        offset: offset of the record.
    """

    title: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    options: SourceOptions = DEFAULT_OPTIONS
    offset: int | None = None


def new_feed_state(
    feed: str, site: str, now: float, added: Subscription = Subscription()
) -> FeedState:
    """Return the state of a source that was just added. It is due at once.

    Args:
        feed: URL of the source.
        site: registrable domain of the source.
        now: current time, seconds since 1970.
        added: title, strings and options with which it was added.
    """
    return FeedState(
        site=site,
        feed=feed,
        url=feed,
        title=added.title,
        meta=dict(added.meta),
        next_due=now,
        options=added.options,
        offset=added.offset,
    )


def add_again(state: FeedState, now: float, added: Subscription) -> FeedState:
    """Return the state of a source that is added again: title, meta, options and offset change.

    A source that is gone or quarantined becomes active again and is due at once. If the kind of a
    source changes, its state begins anew.

    Args:
        state: current state.
        now: current time, seconds since 1970.
        added: title, strings and options; they replace the current ones, except a missing title.
    """
    added = replace(added, title=added.title or state.title)
    if added.options.kind is not state.options.kind:
        fresh = new_feed_state(state.feed, state.site, now, added)
        return replace(fresh, sequence=state.sequence, items=state.items)
    if added.options.content is not state.options.content:
        state = replace(state, coverage=(), content_decided=None, content_decided_at=None)
    state = replace(
        state,
        title=added.title,
        meta=dict(added.meta),
        options=added.options,
        offset=added.offset,
    )
    if state.status is FeedStatus.ACTIVE:
        return state
    return replace(
        state, status=FeedStatus.ACTIVE, errors=0, trouble=None, message=None, next_due=now
    )


def child_state(
    parent: FeedState, url: str, modified: float | None, now: float, room: int | None = None
) -> FeedState:
    """Return the state of a sitemap that an index names for the first time.

    It is due at once, unless its last change is so old that all its pages count as seen.

    Args:
        parent: state of the index.
        url: address of the sitemap.
        modified: time of its last change according to the index; None if unknown.
        now: current time, seconds since 1970.
        room: largest number of pages that its first poll takes; None for that of the index.
    """
    options = parent.options
    if room is not None:
        options = replace(options, first_poll_max=room)
    added = Subscription(meta=parent.meta, options=options, offset=parent.offset)
    is_old = modified is not None and modified + DAY <= (parent.seen_before or 0.0)
    return replace(
        new_feed_state(url, parent.site, now, added),
        parent=parent.feed,
        seen_before=parent.seen_before,
        was_read=parent.was_read,
        modified=modified,
        read_modified=modified if is_old else None,
    )


def update_child(
    child: FeedState, parent: FeedState, modified: float | None, now: float
) -> FeedState:
    """Return the state of a sitemap that its index names again; it is due if it has changed."""
    is_changed = modified is not None and modified != child.modified and child.errors == 0
    return replace(
        child,
        options=replace(parent.options, first_poll_max=child.options.first_poll_max),
        meta=parent.meta,
        offset=parent.offset,
        modified=modified,
        next_due=now if is_changed else child.next_due,
    )


def due_time(state: FeedState | None) -> float:
    """Return the time of the next poll; infinity if there will be none for now.

    A source that was removed, is gone or is paused is not polled. A sitemap of an index is polled
    only if the index says that it has changed, or does not say when it changed last.
    """
    if state is None or state.status is FeedStatus.GONE or state.options.is_paused:
        return math.inf
    return state.next_due if may_have_changed(state) else math.inf


def may_have_changed(state: FeedState) -> bool:
    """Return whether a sitemap may have changed since it was read, according to its index.

    Many indexes give only the day of the last change. On this day the sitemap may change again
    without a change of its date.
    """
    if state.parent is None or state.modified is None or state.modified != state.read_modified:
        return True
    is_day = state.modified % DAY == 0
    read_at = state.last_success
    return is_day and read_at is not None and read_at < state.modified + DAY


def _options_fields(options: SourceOptions) -> dict[str, Any]:
    return {
        name: found
        for name, default in _OPTIONS.items()
        if (found := getattr(options, name)) != default
    }


def _options(fields: dict[str, Any]) -> SourceOptions:
    if "kind" in fields:
        fields["kind"] = SourceKind(fields["kind"])
    if "content" in fields:
        fields["content"] = Content(fields["content"])
    return SourceOptions(**fields)
