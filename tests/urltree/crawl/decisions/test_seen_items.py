"""The rows of a site's items, how long they are stored, and the order of items."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStateError
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.poll.seen_items import (
    SeenItemRow,
    former_rows,
    is_reading_due,
    is_sweep_due,
    renew_row,
    sort_oldest_first,
)

DAY = 86_400.0
DAYS = 60.0
MARKS = (b"path", b"name", b"date", b"text")
STATE = FeedState(site="example.org", feed="https://example.org/rss", url="https://example.org/rss")


def item(name: str, published: str | None = None) -> FeedItem:
    """Return an item whose title is `name` and whose link contains `name`."""
    return FeedItem(f"https://example.org/{name}", name, None, published)


def names(items: list[FeedItem]) -> str:
    """Return the titles of items in one string."""
    return "".join(str(found.title) for found in items)


def test_the_rows_are_pinned() -> None:
    """A row is stored as exactly these bytes, because other releases read the rows in Kafka.

    The first form is that of releases before 0.3.
    """
    times = bytes.fromhex("3ff00000000000004000000000000000")
    marked = times + b"pathnamedatetext"
    for row, stored in ((SeenItemRow(1.0, 2.0), times), (SeenItemRow(1.0, 2.0, MARKS), marked)):
        assert row.encode() == stored
        assert SeenItemRow.decode(stored) == row


@pytest.mark.parametrize("row", [b"", b"x" * 15, b"x" * 17, b"x" * 33])
def test_a_row_of_another_length_is_another_version(row: bytes) -> None:
    """A row of another length raises FeedStateError, which ends the worker."""
    with pytest.raises(FeedStateError):
        SeenItemRow.decode(row)


def test_a_row_is_written_again_only_in_the_second_half_of_its_life() -> None:
    """The row of an item that stays in its feed is written once in 30 days, not at each poll."""
    row = SeenItemRow(0.0, 0.0)
    assert renew_row(row, 30 * DAY, DAYS) is None
    assert renew_row(row, 30 * DAY + 1, DAYS) == SeenItemRow(0.0, 30 * DAY + 1)


def test_marks_that_change_at_every_poll_are_written_once_a_day() -> None:
    """Another path is written at once, another title after a day."""
    row = SeenItemRow(0.0, 0.0, MARKS)
    title, path = (MARKS[0], b"else", *MARKS[2:]), (b"else", *MARKS[1:])
    assert renew_row(row, DAY, DAYS, title) is None
    assert renew_row(row, DAY + 1, DAYS, title) == SeenItemRow(0.0, DAY + 1, title)
    assert renew_row(row, 1.0, DAYS, path) == SeenItemRow(0.0, 1.0, path)


def test_a_row_of_the_future_is_written_again() -> None:
    """A row that a wrong clock has written gets the time of the poll."""
    row = SeenItemRow(90 * DAY, 90 * DAY)
    assert renew_row(row, 0.0, DAYS) == SeenItemRow(0.0, 0.0)


def test_outcomes_of_former_releases_write_their_rows() -> None:
    """The items of such an outcome are in fetches; a replay keeps the times of a row."""
    found = (PolledItem(b"new", None, is_new=True), PolledItem(b"old", None, is_new=False))
    outcome = PollOutcome(
        site="", feed="", sequence=1, at=5.0, result=PollResult.ITEMS, items=found
    )
    rows = {b"old": SeenItemRow(1.0, 1.0)}
    assert former_rows(outcome, rows.get, DAYS) == {b"new": SeenItemRow(5.0, 5.0)}
    rows[b"new"] = SeenItemRow(5.0, 9.0)
    assert former_rows(outcome, rows.get, DAYS) == {b"new": SeenItemRow(5.0, 9.0)}


@given(st.lists(st.integers(0, 40 * 24), max_size=200))
def test_an_item_that_is_polled_is_never_forgotten_while_it_is_there(hours: list[int]) -> None:
    """The row of an item is kept while the feed contains the item, and 30 to 60 days longer."""
    row = SeenItemRow(0.0, 0.0)
    now = 0.0
    for gap in hours:
        if gap * 3_600 > 29 * DAY:
            continue
        now += gap * 3_600
        row = renew_row(row, now, DAYS) or row
        assert not row.is_past(now, DAYS)
    assert not row.is_past(now + 29 * DAY, DAYS)
    assert row.is_past(now + 60 * DAY + 1, DAYS)


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
