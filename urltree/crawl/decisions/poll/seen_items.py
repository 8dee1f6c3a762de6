"""Find the new items of a feed, and update the rows of known items in table `seen_items`.

    feed          c b a       newest first, as in most feeds
    seen before     b a
    new           c           sent to `fetches`, oldest first: verdicts depend on earlier pages

The rows belong to a site: an item that occurs in several feeds of a site is sent once, as in the
paper. A row expires `days` after its item was last seen. A row is rewritten when half of this time
is over. So an item that stays in its feed costs one write per `days / 2` days, and not one per
poll.
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

_ROW = struct.Struct(">dd")  # a row has no version number, so a new format needs another length


@dataclass(frozen=True, slots=True)
class SeenItemRow:
    """The times at which an item was first and last seen, in seconds since 1970."""

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
        """Return whether the row has expired: the item was last seen more than `days` ago."""
        return now - self.last > days * DAY


def update_row(
    row: SeenItemRow | None, item: PolledItem, at: float, days: float
) -> SeenItemRow | None:
    """Return the row to write for an item that a poll has found, None if no write is needed.

    The row of a new item is written even if it exists: if an outcome is replayed after a crash, the
    changelog may lack the first write.

    Args:
        row: stored row of the item, None if there is none.
        item: item that the poll has found.
        at: time of the poll, seconds since 1970.
        days: days after which a row expires.
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
        is_known: function that returns whether a hash is in `seen_items`.

    Returns:
        All items in the feed's order without duplicates, and the new items, oldest first.
    """
    found: dict[bytes, FeedItem] = {}
    for item in items:
        found.setdefault(item.hash, item)
    seen = tuple(
        PolledItem(name, item_time(item), not is_known(name)) for name, item in found.items()
    )
    return seen, sort_oldest_first([found[item.hash] for item in seen if item.is_new])


def sort_oldest_first(items: Sequence[FeedItem]) -> list[FeedItem]:
    """Sort items by date if all of them have a date; otherwise reverse the order of the feed."""
    upwards = list(reversed(items))
    times = {id(item): time for item in upwards if (time := item_time(item)) is not None}
    if len(times) < len(upwards):
        return upwards
    return sorted(upwards, key=lambda item: times[id(item)])


def item_time(item: FeedItem) -> float | None:
    """Return the date of an item in seconds since 1970, None if the item has no date."""
    return None if item.published is None else microseconds(item.published) / 1_000_000


def is_reading_due(state: FeedState, sent: Mapping[str, str], now: float) -> bool:
    """Return whether to parse a body although it is unchanged, which happens about once a day.

    Parsing renews the rows of the items that are still in the feed. Otherwise these rows would
    expire while the feed is silent, and its next poll with a new item would send all items again.

    Args:
        state: state of the feed.
        sent: headers that made the request conditional; empty for an unconditional request.
        now: current time, seconds since 1970.
    """
    had_validators = state.etag is not None or state.last_modified is not None
    if had_validators and not sent:
        return True
    return state.last_poll is None or state.last_poll // DAY != now // DAY


def is_sweep_due(state: FeedState, now: float) -> bool:
    """Return whether to delete the expired rows of the feed's site, which happens once a day."""
    return state.swept_at is None or now - state.swept_at > DAY
