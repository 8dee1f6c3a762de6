"""Feeds that change at every poll: each page is asked for once, and no item is missed."""

from __future__ import annotations

import pytest

from bench.volatile_feeds import VOLATILE, VolatileFeed, follow

FEEDS = [
    *(VolatileFeed(changes=(change,)) for change in VOLATILE),
    *(VolatileFeed(changes=(change,), has_guids=False, has_dates=False) for change in VOLATILE),
    VolatileFeed(changes=("session", "title"), has_paths=False),
    VolatileFeed(changes=("session", "comments", "title"), has_guids=False, has_dates=False),
    VolatileFeed(changes=("guid", "session", "published"), has_paths=False),
    VolatileFeed(changes=("comments", "pixel", "published", "updated", "session", "title")),
    VolatileFeed(changes=("session", "title", "comments", "published"), has_paths=False),
    VolatileFeed(changes=("number", "title", "comments", "published"), has_paths=False),
]


@pytest.mark.parametrize("feed", FEEDS, ids=str)
def test_a_page_of_a_feed_that_changes_at_every_poll_is_asked_for_once(feed: VolatileFeed) -> None:
    """In a day of 69 polls, at most 1.1 pages an item are asked for, and no item is missed.

    The table has a few rows for each of the 38 items, although all parts of an item may change.
    """
    asked = follow(feed, days=1)
    assert asked.missed == 0
    assert asked.per_item <= 1.1
    assert asked.rows < 10 * 38
