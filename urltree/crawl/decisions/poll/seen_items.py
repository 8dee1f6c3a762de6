"""Find the new items of a feed, and keep the rows of known items: table `seen_items`.

    feed          c b a       newest first, as in most feeds
    seen before     b a
    new           c           sent oldest first, because verdicts depend on earlier pages

Items belong to a site: an item that occurs in several feeds of the site is sent once (the paper). A
row is kept for `days` after its item was last seen. It is rewritten when half of that time is over,
so that an item that stays in its feed costs one write a month instead of one per poll.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError
from urltree.crawl.decisions.poll.outcome import PolledItem
from urltree.crawl.decisions.timing import DAY
from urltree.page import microseconds

_ROW = struct.Struct(">dd")  # a later version must have another length


@dataclass(frozen=True, slots=True)
class SeenItemRow:
    """When an item was first and last seen, in seconds since 1970."""

    first: float
    last: float

    def encode(self) -> bytes:
        """Return the bytes of the row."""
        return _ROW.pack(self.first, self.last)

    @classmethod
    def decode(cls, row: bytes) -> SeenItemRow:
        """Read the bytes of a row.

        Raises:
            FeedStateError: the row is damaged, or was written by another release.
        """
        if len(row) != _ROW.size:
            raise FeedStateError(
                f"a row of table seen_items has {len(row)} bytes, but should have {_ROW.size}; it "
                "is damaged, or another release has written it"
            )
        return cls(*_ROW.unpack(row))

    def is_past(self, now: float, days: float) -> bool:
        """Return whether the row has expired."""
        return now - self.last > days * DAY


def update_row(
    row: SeenItemRow | None, item: PolledItem, at: float, days: float
) -> SeenItemRow | None:
    """Return the row to write for an item that a poll at `at` has found; None for no write.

    The row of a new item is written even if it exists: after a replay the changelog may lack the
    first write.
    """
    if row is None:
        return SeenItemRow(at, at)
    if item.is_new or at - row.last > days / 2 * DAY:
        return SeenItemRow(min(row.first, at), max(row.last, at))
    return None


def find_new_items(
    items: Iterable[FeedItem], is_known: Callable[[bytes], bool]
) -> tuple[tuple[PolledItem, ...], list[FeedItem]]:
    """Split a feed's items into known and new ones.

    Args:
        items: items in the feed's order.
        is_known: returns whether a hash is in `seen_items`.

    Returns:
        All items in the same order without duplicates, and the new ones, oldest first.
    """
    found: dict[bytes, FeedItem] = {}
    for item in items:
        found.setdefault(item.hash, item)
    seen = tuple(
        PolledItem(name, item_time(item), not is_known(name)) for name, item in found.items()
    )
    return seen, sort_oldest_first([found[item.hash] for item in seen if item.is_new])


def sort_oldest_first(items: Sequence[FeedItem]) -> list[FeedItem]:
    """Sort items by date if all have one; otherwise reverse the order of the feed."""
    upwards = list(reversed(items))
    times = {id(item): time for item in upwards if (time := item_time(item)) is not None}
    if len(times) < len(upwards):
        return upwards
    return sorted(upwards, key=lambda item: times[id(item)])


def item_time(item: FeedItem) -> float | None:
    """Return the date of an item in seconds since 1970; None without one."""
    return None if item.published is None else microseconds(item.published) / 1_000_000


def is_reading_due(state: FeedState, sent: Mapping[str, str], now: float) -> bool:
    """Return whether to parse a body even though it is unchanged: about once a day.

    The items in it are still in the feed, so their rows must not expire. Otherwise a feed that is
    silent for 60 days would send all its items again together with the next one.

    Args:
        state: state of the feed.
        sent: headers that made the request conditional.
        now: current time, seconds since 1970.
    """
    had_validators = state.etag is not None or state.last_modified is not None
    if had_validators and not sent:
        return True
    return state.last_poll is None or state.last_poll // DAY != now // DAY


def is_sweep_due(state: FeedState, now: float) -> bool:
    """Return whether to look for expired rows of the feed's site: once a day."""
    return state.swept_at is None or now - state.swept_at > DAY
