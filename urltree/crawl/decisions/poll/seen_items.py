"""Which items of a feed are new, and what is kept of those that are not: table `seen_items`.

    feed          c b a       newest first, as most are
    seen before     b a
    new           c           sent oldest first: verdicts depend on what came before

Items are the site's: many feeds of a site carry the same one, and it is sent once (the paper).
A row lives for `days` after its item was last seen. It is written again when half of that is over,
so that an item that stays in its feed costs one write a month, not one a poll.
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

_ROW = struct.Struct(">dd")  # another length is another version


@dataclass(frozen=True, slots=True)
class SeenItemRow:
    """When an item was first and last seen, seconds since 1970."""

    first: float
    last: float

    def encode(self) -> bytes:
        """The row."""
        return _ROW.pack(self.first, self.last)

    @classmethod
    def decode(cls, row: bytes) -> SeenItemRow:
        """Read a row.

        Raises:
            StateError: it is of a release that this one does not know, or damaged.
        """
        if len(row) != _ROW.size:
            raise FeedStateError(f"seen_items: a row of {len(row)} bytes, should have {_ROW.size}")
        return cls(*_ROW.unpack(row))

    def is_past(self, now: float, days: float) -> bool:
        """Whether its item is forgotten."""
        return now - self.last > days * DAY


def update_row(
    row: SeenItemRow | None, item: PolledItem, at: float, days: float
) -> SeenItemRow | None:
    """The row to be put for an item that a poll at `at` has found; None: it stays as it is.

    A new item's row is put also where it is there: of a replay, whose first write the changelog
    may lack.
    """
    if row is None:
        return SeenItemRow(at, at)
    if item.is_new or at - row.last > days / 2 * DAY:
        return SeenItemRow(min(row.first, at), max(row.last, at))
    return None


def find_new_items(
    items: Iterable[FeedItem], is_known: Callable[[bytes], bool]
) -> tuple[tuple[PolledItem, ...], list[FeedItem]]:
    """What a feed's items are to its site.

    Args:
        items: in the feed's order.
        is_known: whether a hash is in `seen_items`.

    Returns:
        All of them, each hash once, in the same order; and the new ones, oldest first.
    """
    found: dict[bytes, FeedItem] = {}
    for item in items:
        found.setdefault(item.hash, item)
    seen = tuple(
        PolledItem(name, item_time(item), not is_known(name)) for name, item in found.items()
    )
    return seen, sort_oldest_first([found[item.hash] for item in seen if item.is_new])


def sort_oldest_first(items: Sequence[FeedItem]) -> list[FeedItem]:
    """By their dates where all have one; else from the end of the feed to its beginning."""
    upwards = list(reversed(items))
    times = {id(item): time for item in upwards if (time := item_time(item)) is not None}
    if len(times) < len(upwards):
        return upwards
    return sorted(upwards, key=lambda item: times[id(item)])


def item_time(item: FeedItem) -> float | None:
    """Seconds since 1970 of an item's date, None where it has none."""
    return None if item.published is None else microseconds(item.published) / 1_000_000


def is_reading_due(state: FeedState, sent: Mapping[str, str], now: float) -> bool:
    """Whether to read a body although it is the last one: about once a day.

    Its items are still there, and their rows are to live on: else a feed that is silent for 60
    days would send its whole list again, together with its next item.

    Args:
        state: of the feed.
        sent: the headers that made the request conditional.
        now: seconds since 1970.
    """
    had_validators = state.etag is not None or state.last_modified is not None
    if had_validators and not sent:
        return True
    return state.last_poll is None or state.last_poll // DAY != now // DAY


def is_sweep_due(state: FeedState, now: float) -> bool:
    """Whether the rows of a site are to be looked through on behalf of this feed: once a day."""
    return state.swept_at is None or now - state.swept_at > DAY
