"""Which items of a feed are new to its site, and how long the site's seen items are stored."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError
from urltree.crawl.decisions.poll.outcome import PolledItem
from urltree.crawl.decisions.poll.seen_items import (
    SeenItemRow,
    find_new_items,
    is_reading_due,
    is_sweep_due,
    sort_oldest_first,
    update_row,
)

DAY = 86_400.0
DAYS = 60.0
OLD = PolledItem(b"h" * 16, None, is_new=False)
NEW = PolledItem(b"h" * 16, None, is_new=True)
STATE = FeedState(site="example.org", feed="https://example.org/rss", url="https://example.org/rss")


def item(name: str, published: str | None = None) -> FeedItem:
    """Return an item whose title is `name` and whose link contains `name`."""
    return FeedItem(f"https://example.org/{name}", name, None, published)


def names(items: list[FeedItem]) -> str:
    """Return the titles of items in one string."""
    return "".join(str(found.title) for found in items)


def test_the_row_is_pinned() -> None:
    """A row is stored as exactly these bytes, because later releases read the rows in Kafka."""
    row = bytes.fromhex("3ff00000000000004000000000000000")
    assert SeenItemRow(1.0, 2.0).encode() == row
    assert SeenItemRow.decode(row) == SeenItemRow(1.0, 2.0)


@pytest.mark.parametrize("row", [b"", b"x" * 15, b"x" * 17])
def test_a_row_of_another_length_is_another_version(row: bytes) -> None:
    """A row of another length raises FeedStateError, which ends the worker."""
    with pytest.raises(FeedStateError):
        SeenItemRow.decode(row)


def test_a_row_is_written_again_only_in_the_second_half_of_its_life() -> None:
    """The row of an item that stays in its feed is written once in 30 days, not at each poll."""
    row = SeenItemRow(0.0, 0.0)
    assert update_row(None, NEW, 5.0, DAYS) == SeenItemRow(5.0, 5.0)
    assert update_row(row, OLD, 30 * DAY, DAYS) is None
    assert update_row(row, OLD, 30 * DAY + 1, DAYS) == SeenItemRow(0.0, 30 * DAY + 1)


def test_a_replay_puts_the_row_that_is_there() -> None:
    """Replaying an old record returns the stored row, and does not reset its times.

    A replay finds such a row if the disk is ahead of the changelog.
    """
    assert update_row(SeenItemRow(5.0, 5.0), NEW, 5.0, DAYS) == SeenItemRow(5.0, 5.0)
    assert update_row(SeenItemRow(5.0, 9.0), NEW, 5.0, DAYS) == SeenItemRow(5.0, 9.0)


@given(st.lists(st.integers(0, 40 * 24), max_size=200))
def test_an_item_that_is_polled_is_never_forgotten_while_it_is_there(hours: list[int]) -> None:
    """The row of an item is kept while the feed contains the item, and 30 to 60 days longer."""
    row = SeenItemRow(0.0, 0.0)
    now = 0.0
    for gap in hours:
        if gap * 3_600 > 29 * DAY:
            continue
        now += gap * 3_600
        row = update_row(row, OLD, now, DAYS) or row
        assert not row.is_past(now, DAYS)
    assert not row.is_past(now + 29 * DAY, DAYS)
    assert row.is_past(now + 60 * DAY + 1, DAYS)


def test_each_hash_comes_once_in_the_feeds_order() -> None:
    """Items with the same hash are returned once, in the feed's order, with a mark on new items."""
    items = [item("c"), item("b"), item("c"), item("a")]
    seen, new = find_new_items(items, lambda name: name == item("b").hash)
    assert [found.hash for found in seen] == [item(name).hash for name in "cba"]
    assert [found.is_new for found in seen] == [True, False, True]
    assert names(new) == "ac"


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        (("3", "2", "1"), "cba"),
        (("1", "2", "3"), "abc"),
        (("1", None, "3"), "cba"),
        (("1", "3", "1"), "cab"),
    ],
)
def test_the_oldest_comes_first(dates: tuple[str | None, ...], order: str) -> None:
    """Items are sorted by date. If dates are missing or equal, the feed's last item is first."""
    items = [
        item(name, day and f"2026-01-0{day}T00:00:00+00:00")
        for name, day in zip("abc", dates, strict=True)
    ]
    assert names(sort_oldest_first(items)) == order


def test_the_same_body_is_read_once_a_day() -> None:
    """An unchanged body is parsed again once a day, so that the rows of its items do not expire."""
    state = replace(STATE, last_poll=10 * DAY)
    assert not is_reading_due(state, {}, 10.9 * DAY)
    assert is_reading_due(state, {}, 11 * DAY)
    assert is_reading_due(STATE, {}, 0.0)


def test_a_body_that_was_asked_for_without_condition_is_read() -> None:
    """The response to an unconditional request is parsed even if the last parse was today.

    Such a request is sent because responses 304 are trusted only for a limited time.
    """
    state = replace(STATE, last_poll=10 * DAY, etag="1")
    assert is_reading_due(state, {}, 10.5 * DAY)
    assert not is_reading_due(state, {"If-None-Match": "1"}, 10.5 * DAY)


def test_a_site_is_swept_once_a_day() -> None:
    """The expired rows of a site are deleted once a day for each of its feeds."""
    assert is_sweep_due(STATE, 0.0)
    assert not is_sweep_due(replace(STATE, swept_at=0.0), DAY)
    assert is_sweep_due(replace(STATE, swept_at=0.0), DAY + 1)
