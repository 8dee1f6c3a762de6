"""How long a working feed waits between two polls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.urltree.crawl.decisions.polls import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    RULES,
    every,
    feed,
    item,
    poll,
    polled,
)
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.interval import add_jitter, poll_interval, skip_forbidden_hours
from urltree.crawl.decisions.poll.outcome import PollResult
from urltree.crawl.decisions.poll.source_options import SourceOptions

MIDNIGHT = NOW - 8 * HOUR


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param(polled(*every(2 * HOUR)), HOUR, id="half the median gap"),
        pytest.param(polled(*every(5 * MINUTE, 100)), 15 * MINUTE, id="never below the minimum"),
        pytest.param(polled(*every(3.1 * DAY)), 6 * HOUR, id="never above the maximum"),
        pytest.param(
            polled(*every(HOUR, until=NOW - 30 * HOUR)), 3 * HOUR, id="a tenth of the silence"
        ),
        pytest.param(polled(item(NOW - 20 * HOUR)), 2 * HOUR, id="a single item has no gap"),
        pytest.param(polled(), 6 * HOUR, id="an empty feed gives no reason to hurry"),
        pytest.param(feed(), 6 * HOUR, id="a feed that was never polled"),
        pytest.param(polled(*every(HOUR), ttl=2 * HOUR), 2 * HOUR, id="ttl is a floor"),
        pytest.param(polled(*every(HOUR), max_age=2 * HOUR), 2 * HOUR, id="max-age is a floor"),
        pytest.param(
            polled(*every(HOUR, 50), max_age=365 * DAY), 6 * HOUR, id="a huge max-age is capped"
        ),
        pytest.param(
            polled(*every(HOUR), max_age=365 * DAY, no_cache=True),
            30 * MINUTE,
            id="no-cache beats a huge max-age",
        ),
        pytest.param(
            polled(*every(HOUR), ttl=2 * HOUR, no_cache=True), 2 * HOUR, id="ttl beats no-cache"
        ),
        pytest.param(
            polled(*every(10 * MINUTE, 13), ttl=6 * HOUR), HOUR, id="half the window beats ttl"
        ),
    ],
)
def test_the_interval_is(state: FeedState, expected: float) -> None:
    """The interval depends on the gaps and age of items, the publisher's hints and the limits."""
    assert poll_interval(state, RULES) == pytest.approx(expected)


def test_half_the_list_never_passes_between_two_polls() -> None:
    """The interval is at most half the time in which all items of the feed are replaced.

    Here ten items came within an hour after long gaps; the median gap alone would give days.
    """
    burst = every(6 * MINUTE, 11)
    state = polled(*burst)
    slow = replace(state, gaps=(3 * DAY,) * 20)
    assert poll_interval(slow, RULES) == pytest.approx(30 * MINUTE)


def test_who_has_been_silent_for_a_week_replaces_no_list() -> None:
    """The time span of the items is ignored after a week without new items.

    So a blog whose posts were imported within a minute years ago is not polled every 15 minutes.
    """
    assert polled(*every(5.0, until=NOW - 6 * DAY)).interval == 15 * MINUTE
    assert polled(*every(5.0, until=NOW - 600 * DAY)).interval == 6 * HOUR


def test_old_items_that_are_pinned_do_not_make_the_list_long() -> None:
    """A few old items do not lengthen a feed's time span, as only newer dates determine it."""
    state = polled(item(NOW - 900 * DAY), *every(HOUR, 12))
    assert state.window == pytest.approx(12 * HOUR)


def test_the_window_shrinks_at_once_and_doubles_in_a_day() -> None:
    """The time span of a feed's items shrinks at once, and at most doubles in a day.

    After a quiet night, the next morning may be as busy as the morning before.
    """
    busy = polled(*every(10 * MINUTE, 13))
    quiet = replace(busy, window=100 * HOUR)
    assert poll(quiet, PollResult.ITEMS, items=every(10 * MINUTE, 13)).window == pytest.approx(
        2 * HOUR
    )
    later = NOW + 12 * HOUR
    relaxed = poll(busy, PollResult.ITEMS, items=every(5 * HOUR, 13, later), at=later)
    assert relaxed.window == pytest.approx(2 * HOUR * 2**0.5)


def test_a_list_that_comes_out_at_once_lasts_until_the_next() -> None:
    """If all items appear at the same moment, their time span is the time until the next items."""
    state = polled(*(item(NOW - DAY, str(number)) for number in range(10)))
    assert state.window is None
    again = tuple(item(NOW + DAY, str(number)) for number in range(10))
    state = poll(state, PollResult.ITEMS, items=again, at=NOW + DAY + 60)
    assert (state.gaps, state.window, state.interval) == ((DAY + 60,), DAY + 60, 6 * HOUR)


def test_a_list_without_dates_lasts_as_its_share_of_new_items_lets_expect() -> None:
    """Without dates, a feed's time span follows from the share of new items.

    Here two of ten items are new after two hours, so all ten are replaced in ten hours.
    """
    undated = [item(None, str(number)) for number in range(10)]
    state = polled(*undated)
    assert state.window is None
    seen = [replace(old, is_new=False) for old in undated[:8]]
    newer = (item(None, "x"), item(None, "y"), *seen)
    assert poll(state, PollResult.ITEMS, items=newer, at=NOW + 2 * HOUR).window == 10 * HOUR


@pytest.mark.parametrize(
    "time",
    [
        pytest.param(None, id="that has no date"),
        pytest.param(NOW + 30 * DAY, id="from the future"),
        pytest.param(0.0, id="of 1970"),
        pytest.param(NOW - DAY, id="that is older than the last poll"),
        pytest.param(float("nan"), id="whose date is no number"),
    ],
)
def test_the_time_when_first_seen_stands_for_that_of_an_item(time: float | None) -> None:
    """A new item without a plausible date counts as published at the time of the poll."""
    state = polled(item(NOW - HOUR))
    state = poll(state, PollResult.ITEMS, items=(item(time, "new"),), at=NOW + HOUR)
    assert (state.newest, state.gaps) == (NOW + HOUR, (2 * HOUR,))


def test_bare_days_are_no_times() -> None:
    """If the dates of all items have the same time of day, they are treated as missing."""
    state = polled(*every(DAY, 20, until=MIDNIGHT))
    assert (state.newest, state.gaps, state.interval) == (NOW, (), 15 * MINUTE)


def test_items_of_one_moment_are_one_event() -> None:
    """Items with the same date count as one publication, so that no gap is zero."""
    twins = [item(NOW - hours * HOUR, name) for hours in (4, 8) for name in "abc"]
    assert polled(*twins).gaps == (4 * HOUR,)


def test_the_last_twenty_gaps_are_kept_newest_first() -> None:
    """A feed's state keeps the last twenty gaps, newest first; new gaps replace the oldest ones."""
    state = polled(*every(HOUR, 30))
    assert state.gaps == (HOUR,) * 20
    state = poll(state, PollResult.ITEMS, items=(item(NOW + 60),), at=NOW + 120)
    assert state.gaps == (60.0, *(HOUR,) * 19)


def test_an_item_that_was_seen_before_counts_once() -> None:
    """An item that was counted before changes neither the gaps, the newest date nor the count."""
    state = polled(*every(HOUR, 3))
    old = tuple(replace(seen, is_new=False) for seen in every(HOUR, 3))
    again = poll(state, PollResult.ITEMS, items=old)
    assert (again.gaps, again.newest, again.items) == (state.gaps, state.newest, 3)


def test_jitter_is_a_tenth_at_most_and_differs_from_poll_to_poll() -> None:
    """Jitter changes a wait by at most a tenth, and depends only on the feed and the poll."""
    waits = [add_jitter(HOUR, feed(sequence=sequence)) for sequence in range(100)]
    assert waits == [add_jitter(HOUR, feed(sequence=sequence)) for sequence in range(100)]
    assert len(set(waits)) == 100
    assert 0.9 * HOUR <= min(waits) < 0.92 * HOUR < 1.08 * HOUR < max(waits) <= 1.1 * HOUR


def test_jitter_never_falls_below_what_was_asked_for() -> None:
    """Jitter never makes a wait shorter than max-age, or the poll would get a cached response."""
    waits = [add_jitter(HOUR, feed(sequence=sequence), at_least=HOUR) for sequence in range(100)]
    assert min(waits) >= HOUR
    assert len(set(waits)) == 100


@pytest.mark.parametrize(
    ("hours", "days", "wait"),
    [
        pytest.param((), (), 0, id="nothing"),
        pytest.param((8, 9, 10), (), 3, id="the hours from now on"),
        pytest.param((9, 10), (), 0, id="hours to come"),
        pytest.param((), (4,), 16, id="today, a Friday"),
        pytest.param((0, 1), (4, 5, 6), 66, id="the weekend and a Monday's first hours"),
        pytest.param(range(24), (), 0, id="all hours are ignored"),
        pytest.param((), range(7), 0, id="all days"),
    ],
)
def test_hours_and_days_that_a_feed_skips_are_not_asked_in(
    hours: tuple[int, ...], days: tuple[int, ...], wait: float
) -> None:
    """A poll that is due in a skipped hour or day waits for the next allowed hour (UTC)."""
    state = feed(skip_hours=tuple(hours), skip_days=tuple(days))
    assert skip_forbidden_hours(NOW, state) == NOW + wait * HOUR


# The user's bounds of one source


@pytest.mark.parametrize(
    ("lower", "upper", "bounds"),
    [
        (None, None, (15 * MINUTE, 6 * HOUR)),
        (HOUR, None, (HOUR, 6 * HOUR)),
        (DAY, None, (DAY, DAY)),
        (None, 5 * MINUTE, (5 * MINUTE, 5 * MINUTE)),
        (None, DAY, (15 * MINUTE, DAY)),
        (MINUTE, 2 * MINUTE, (MINUTE, 2 * MINUTE)),
        (HOUR, MINUTE, (HOUR, HOUR)),
    ],
)
def test_a_source_may_have_bounds_of_its_own(
    lower: float | None, upper: float | None, bounds: tuple[float, float]
) -> None:
    """They take precedence over the job's bounds, and the next poll is within them."""
    options = SourceOptions(interval_min=lower, interval_max=upper)
    rules = RULES.with_options(options)
    assert (rules.interval_min, rules.interval_max) == bounds
    state = poll(feed(options=options), PollResult.ITEMS, items=every(10 * MINUTE))
    assert bounds[0] <= state.interval <= bounds[1]
    assert state.next_due - NOW <= bounds[1]
