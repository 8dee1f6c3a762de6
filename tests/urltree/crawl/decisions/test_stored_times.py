"""Stored times that a wrong clock has written, and what happens while a clock is wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from bench.followed_site import SITE, FollowedSite
from tests.urltree.crawl.decisions.polls import DAY, HOUR, NOW, RULES, every, failed, feed, polled
from urltree.crawl.decisions.caching import RETRY_AFTER_MAX
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import due_time
from urltree.crawl.decisions.poll.interval import PollRules, longest_wait
from urltree.crawl.decisions.poll.seen_items import SeenItemRow, is_sweep_due
from urltree.crawl.decisions.poll.stored_times import bound_times
from urltree.crawl.decisions.poll.transition import conditional_headers, due_after_takeover
from urltree.crawl.decisions.timing import bounded, has_clock_moved, may_sweep

AHEAD = [30 * DAY, 90 * DAY]
FEEDS, ITEMS = 40, 5


def test_a_time_that_no_rule_allows_means_none() -> None:
    """A stored time counts if it is at most the longest wait of its rule later than now."""
    assert bounded(NOW + HOUR, NOW, HOUR) == NOW + HOUR
    assert bounded(NOW + 2 * HOUR, NOW, HOUR) is None
    assert bounded(NOW + 60, NOW) == NOW + 60
    assert bounded(NOW - 90 * DAY, NOW) == NOW - 90 * DAY
    assert bounded(None, NOW) is None


def test_nothing_is_swept_while_the_clock_is_ahead_of_the_brokers() -> None:
    """An old record of the broker only delays the deletion."""
    assert may_sweep(NOW, NOW - HOUR)
    assert may_sweep(NOW, NOW + 90 * DAY)
    assert not may_sweep(NOW + 30 * DAY, NOW)
    assert not may_sweep(NOW, None)


def test_a_clock_that_was_set_is_noticed() -> None:
    """The two clocks of a worker then differ in what has passed; a suspension moves both alike."""
    assert not has_clock_moved((NOW, 5.0), (NOW + DAY, 5.0 + DAY))
    assert has_clock_moved((NOW, 5.0), (NOW + 30 * DAY, 13.0))
    assert has_clock_moved((NOW + 30 * DAY, 5.0), (NOW, 13.0))


@pytest.mark.parametrize("ahead", AHEAD)
def test_no_time_of_the_past_is_in_the_future(ahead: float) -> None:
    """Such times count as missing, so that the next request is unconditional, for example."""
    state = polled(*every(2 * HOUR), at=NOW + ahead, etag="1")
    state = replace(state, swept_at=NOW + ahead, redirect="x", redirect_since=NOW + ahead)
    found = bound_times(state, NOW, RULES)
    times = (found.last_poll, found.last_success, found.unconditional_at, found.swept_at)
    assert (*times, found.redirect_since) == (None,) * 5
    assert conditional_headers(state, NOW) != {}
    assert conditional_headers(found, NOW) == {}
    assert is_sweep_due(found, NOW)
    assert found.was_read


def test_possible_times_are_kept() -> None:
    """A state of a correct clock is not changed, whatever its waits are."""
    states = [
        polled(*every(2 * DAY)),
        polled(*every(2 * DAY), skip_days=(0, 1, 2, 3, 4, 5)),
        failed(polled(*every(2 * DAY)), 25),
        failed(polled(*every(2 * DAY)), retry_after=7 * DAY),
    ]
    for state in states:
        assert state.last_poll is not None
        assert bound_times(state, state.last_poll, RULES) == state


@pytest.mark.parametrize("ahead", AHEAD)
def test_feeds_with_impossible_times_are_spread_over_an_interval(ahead: float) -> None:
    """The feeds are polled within one interval, at points that differ, as after an outage."""
    states = [
        replace(polled(*every(2 * DAY), at=NOW + ahead), feed=f"https://{SITE}/{number}")
        for number in range(200)
    ]
    waits = [due_after_takeover(state, NOW, RULES) - NOW for state in states]
    assert all(0 <= wait <= state.interval for wait, state in zip(waits, states, strict=True))
    assert max(waits) - min(waits) > 0.9 * states[0].interval


def test_the_longest_wait_is_that_of_the_rules() -> None:
    """A working feed waits for an interval, a failing one for at most the longest Retry-After."""
    assert longest_wait(feed(), RULES) == RULES.interval_max
    assert longest_wait(feed(errors=1), RULES) == pytest.approx(1.1 * RETRY_AFTER_MAX)
    assert longest_wait(feed(skip_hours=(1,)), RULES) == RULES.interval_max + 7 * DAY


@pytest.mark.parametrize("ahead", AHEAD)
def test_eight_seconds_of_a_wrong_clock_cost_nothing(ahead: float) -> None:
    """Afterwards no feed is silent for longer than its interval, none is new, no row is swept."""
    site, rules = FollowedSite(), PollRules()
    names = [f"feed{number}" for number in range(FEEDS)]
    polls: dict[str, list[float]] = {name: [] for name in names}
    longest = dict.fromkeys(names, 0.0)

    def poll(name: str, true_time: float, clock: float) -> None:
        site.now = clock
        site.poll(
            (
                FeedItem(f"https://{SITE}/{name}/{number}", f"{name} {number}", guid=str(number))
                for number in range(ITEMS)
            ),
            name,
        )
        polls[name].append(true_time)
        longest[name] = max(longest[name], site.state(name).interval)

    def follow(due: dict[str, float], until: float) -> dict[str, float]:
        while min(due.values()) < until:
            name = min(due, key=due.__getitem__)
            poll(name, due[name], due[name])
            due[name] = due_time(site.state(name))
        return due

    follow(dict.fromkeys(names, NOW), NOW + DAY)
    asked = len(site.asked)
    for number, name in enumerate(names):
        true_time = NOW + DAY + 8 * number / FEEDS
        poll(name, true_time, true_time + ahead)
        assert not may_sweep(site.now, true_time)
    back = NOW + DAY + 8
    due = {name: due_after_takeover(site.state(name), back, rules) for name in names}
    follow(due, NOW + 3 * DAY)

    assert asked == FEEDS * ITEMS == len(site.asked)
    for name, times in polls.items():
        gaps = [after - before for before, after in pairwise(times)]
        assert max(gaps) <= longest[name] * 1.1
        assert NOW + 3 * DAY - times[-1] <= longest[name] * 1.1
    for row in map(SeenItemRow.decode, site.rows.values()):
        assert not row.is_past(NOW + 3 * DAY, site.rules.seen_days)


def test_a_paused_source_stays_paused() -> None:
    """An impossible time does not end a pause."""
    state = feed(next_due=NOW + 90 * DAY)
    paused = replace(state, options=replace(state.options, is_paused=True))
    assert due_after_takeover(paused, NOW, RULES) == math.inf
