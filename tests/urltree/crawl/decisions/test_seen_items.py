"""Which items of a feed are new to its site, and how long they are remembered."""

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
    """Return an item with an address of its own."""
    return FeedItem(f"https://example.org/{name}", name, None, published)


def names(items: list[FeedItem]) -> str:
    """Return the titles of items in one string."""
    return "".join(str(found.title) for found in items)


def test_the_row_is_pinned() -> None:
    """Rows in Kafka outlive releases."""
    row = bytes.fromhex("3ff00000000000004000000000000000")
    assert SeenItemRow(1.0, 2.0).encode() == row
    assert SeenItemRow.decode(row) == SeenItemRow(1.0, 2.0)


@pytest.mark.parametrize("row", [b"", b"x" * 15, b"x" * 17])
def test_a_row_of_another_length_is_another_version(row: bytes) -> None:
    """It is an error of ours, and the worker ends."""
    with pytest.raises(FeedStateError):
        SeenItemRow.decode(row)


def test_a_row_is_written_again_only_in_the_second_half_of_its_life() -> None:
    """An item that stays in its feed costs one write in 30 days instead of one per poll."""
    row = SeenItemRow(0.0, 0.0)
    assert update_row(None, NEW, 5.0, DAYS) == SeenItemRow(5.0, 5.0)
    assert update_row(row, OLD, 30 * DAY, DAYS) is None
    assert update_row(row, OLD, 30 * DAY + 1, DAYS) == SeenItemRow(0.0, 30 * DAY + 1)


def test_a_replay_puts_the_row_that_is_there() -> None:
    """The disk may be ahead of the changelog; an old record does not reset the times."""
    assert update_row(SeenItemRow(5.0, 5.0), NEW, 5.0, DAYS) == SeenItemRow(5.0, 5.0)
    assert update_row(SeenItemRow(5.0, 9.0), NEW, 5.0, DAYS) == SeenItemRow(5.0, 9.0)


@given(st.lists(st.integers(0, 40 * 24), max_size=200))
def test_an_item_that_is_polled_is_never_forgotten_while_it_is_there(hours: list[int]) -> None:
    """It is forgotten 30 to 60 days after it has left the feed."""
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
    """New items are marked."""
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
    """By date if all have one; otherwise the last item of the feed is the oldest."""
    items = [
        item(name, day and f"2026-01-0{day}T00:00:00+00:00")
        for name, day in zip("abc", dates, strict=True)
    ]
    assert names(sort_oldest_first(items)) == order


def test_the_same_body_is_read_once_a_day() -> None:
    """So the rows of its items do not expire."""
    state = replace(STATE, last_poll=10 * DAY)
    assert not is_reading_due(state, {}, 10.9 * DAY)
    assert is_reading_due(state, {}, 11 * DAY)
    assert is_reading_due(STATE, {}, 0.0)


def test_a_body_that_was_asked_for_without_condition_is_read() -> None:
    """The condition was left out because responses 304 are not trusted for longer."""
    state = replace(STATE, last_poll=10 * DAY, etag="1")
    assert is_reading_due(state, {}, 10.5 * DAY)
    assert not is_reading_due(state, {"If-None-Match": "1"}, 10.5 * DAY)


def test_a_site_is_swept_once_a_day() -> None:
    """Each of its feeds causes a sweep."""
    assert is_sweep_due(STATE, 0.0)
    assert not is_sweep_due(replace(STATE, swept_at=0.0), DAY)
    assert is_sweep_due(replace(STATE, swept_at=0.0), DAY + 1)
