"""The rows of table `seen_items`, by which the items of a site are known.

A row contains the times at which an item was seen, and the marks by which a later item is compared
(`identity`). The rows belong to a site: an item that occurs in several feeds of a site is sent
once, as in the paper. A row expires `days` after its item was last seen. A row is rewritten when
half of this time is over. So an item that stays in its feed costs one write per `days / 2` days,
and not one per poll.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError
from urltree.crawl.decisions.poll.identity import Marks
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.crawl.decisions.timing import DAY, bounded
from urltree.page import microseconds

_TIMES = struct.Struct(">dd")  # a row has no version number, so a new format has another length
_MARKED = struct.Struct(">dd4s4s4s4s")

_MARKS_AGE = DAY  # seconds after which changed marks are written, except another path


@dataclass(frozen=True, slots=True)
class SeenItemRow:
    """A row of table `seen_items`.

    Attributes:
        first, last: times at which the item was first and last seen, in seconds since 1970. A
            negative `first` means that the page was dropped from the queue and never fetched.
        marks: digests of path, title, date and text, by which a later item is compared; None in
            rows of links and texts, and in rows of releases before 0.3.
    """

    first: float
    last: float
    marks: Marks | None = None

    @property
    def is_dropped(self) -> bool:
        """Whether the page was dropped from the queue, so that the item counts as not seen."""
        return self.first < 0

    def encode(self) -> bytes:
        """Return the bytes of the row."""
        if self.marks is None:
            return _TIMES.pack(self.first, self.last)
        return _MARKED.pack(self.first, self.last, *self.marks)

    @classmethod
    def decode(cls, row: bytes) -> SeenItemRow:
        """Read the bytes of a row.

        Raises:
            FeedStateError: the row is damaged, or was written by another release.
        """
        if len(row) == _TIMES.size:
            return cls(*_TIMES.unpack(row))
        if len(row) == _MARKED.size:
            first, last, *marks = _MARKED.unpack(row)
            return cls(first, last, tuple(marks))
        raise FeedStateError(
            f"a row of table seen_items has {len(row)} bytes, but should have {_TIMES.size} or "
            f"{_MARKED.size}; it is damaged, or another release has written it"
        )

    def is_past(self, now: float, days: float) -> bool:
        """Return whether the row has expired: the item was last seen more than `days` ago."""
        return now - self.last > days * DAY


def dropped_row(now: float) -> SeenItemRow:
    """Return the row of a link whose page was dropped from the queue before it was fetched.

    If a feed still lists the link, or lists it again, its item is new.
    """
    return SeenItemRow(-1.0, now)


def renew_row(
    row: SeenItemRow, at: float, days: float, marks: Marks | None = None
) -> SeenItemRow | None:
    """Return the row to write for an item that was seen again, None if no write is needed.

    A row that this poll has written is written again: if the answer is read again after a crash,
    the changelog may lack the first write. Marks that change at every poll are written once a day.
    Another path is written at once, because an item whose path and title have changed is another
    item.

    Args:
        row: stored row.
        at: time of the poll, seconds since 1970.
        days: days after which a row expires.
        marks: current marks of the item; None for a row without marks.
    """
    age = at - row.last
    has_moved = marks is not None and (row.marks is None or marks[0] != row.marks[0])
    is_outdated = marks != row.marks and age > _MARKS_AGE
    if (
        age == 0
        or has_moved
        or is_outdated
        or age > days / 2 * DAY
        or bounded(row.last, at) is None
    ):
        return SeenItemRow(min(row.first, at), at, marks)
    return None


def former_rows(
    outcome: PollOutcome, lookup: Callable[[bytes], SeenItemRow | None], days: float
) -> dict[bytes, SeenItemRow]:
    """Return the rows to write for an outcome of a release before 0.3.

    That release has sent the new items to `fetches`. Its rows count for `seen_days` after the
    upgrade. The row of a new item is written even if it exists: if an outcome is replayed after a
    crash, the changelog may lack the first write.

    Args:
        outcome: outcome of a poll with its items.
        lookup: returns a row of the feed's site, None if there is none.
        days: days after which a row expires.
    """
    rows = {}
    for item in outcome.items:
        row = lookup(item.hash)
        if row is None:
            after: SeenItemRow | None = SeenItemRow(outcome.at, outcome.at)
        elif item.is_new:
            after = SeenItemRow(min(row.first, outcome.at), max(row.last, outcome.at))
        else:
            after = renew_row(row, outcome.at, days)
        if after is not None:
            rows[item.hash] = after
    return rows


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
