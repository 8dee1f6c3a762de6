"""How a poll changes the state of a feed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urltree.crawl.decisions.polls import (
    DAY,
    FEED,
    HOUR,
    MINUTE,
    NOW,
    RULES,
    SITE,
    every,
    failed,
    feed,
    item,
    poll,
    polled,
)
from urltree.crawl.decisions.caching import RETRY_AFTER_MAX
from urltree.crawl.decisions.poll.feed_state import (
    FeedState,
    FeedStatus,
    Subscription,
    new_feed_state,
)
from urltree.crawl.decisions.poll.interval import BACKOFF_MAX, PollRules
from urltree.crawl.decisions.poll.outcome import PolledItem, PollOutcome, PollResult
from urltree.crawl.decisions.poll.transition import (
    apply_outcome,
    conditional_headers,
    due_after_takeover,
    is_expected_outcome,
)

DAILY = polled(*every(2 * DAY), etag='W/"a,b"', last_modified="yesterday, more or less")
CONDITIONAL = {"If-None-Match": 'W/"a,b"', "If-Modified-Since": "yesterday, more or less"}
MOVED = "http://news.example/rss"


def test_a_feed_that_was_added_is_due_at_once() -> None:
    """A new feed is due at once, has the user's title and metadata, and no validators."""
    state = new_feed_state(FEED, SITE, NOW, Subscription(title="News", meta={"team": "a"}))
    assert (state.url, state.title, state.meta) == (FEED, "News", {"team": "a"})
    assert (
        state.next_due,
        due_after_takeover(state, NOW + DAY, RULES),
        conditional_headers(state, NOW),
    ) == (NOW, NOW, {})


# Conditional requests


def test_validators_go_back_as_they_came() -> None:
    """A conditional request contains the stored ETag and Last-Modified unchanged."""
    assert conditional_headers(DAILY, NOW + HOUR) == CONDITIONAL


def test_only_what_was_given_goes_back() -> None:
    """A conditional request contains only the validators that the server has sent."""
    assert conditional_headers(polled(*every(DAY), etag='"1"'), NOW) == {"If-None-Match": '"1"'}
    assert conditional_headers(polled(*every(DAY)), NOW) == {}


def test_a_304_keeps_the_validators() -> None:
    """A 304 does not change the validators: it often has none, or those of another server."""
    state = poll(DAILY, PollResult.UNCHANGED, etag='"other"')
    assert (state.etag, state.last_modified) == (DAILY.etag, DAILY.last_modified)


def test_the_same_body_with_another_validator_replaces_it() -> None:
    """A 200 with an unchanged body and a new validator replaces the stored validator."""
    state = poll(DAILY, PollResult.UNCHANGED, status=200, etag='"other"')
    assert (state.etag, state.last_modified) == ('"other"', DAILY.last_modified)


def test_items_replace_the_validators_also_by_none() -> None:
    """A response with items replaces both validators; one that the response lacks is deleted.

    A kept old validator would be sent with every later request.
    """
    state = poll(DAILY, PollResult.ITEMS, items=every(DAY), etag='"new"', body_hash="ff")
    assert (state.etag, state.last_modified, state.body_hash) == ('"new"', None, "ff")


@pytest.mark.parametrize("result", [PollResult.FAILED, PollResult.GONE])
def test_no_failure_touches_the_validators(result: PollResult) -> None:
    """A failed poll does not change the validators, because an error page may have an ETag too."""
    state = poll(DAILY, result, etag='"error page"')
    assert (state.etag, state.unconditional_at) == (DAILY.etag, DAILY.unconditional_at)


def test_nobody_is_believed_who_says_304_for_a_whole_day() -> None:
    """After a day of responses 304 the next request is unconditional, and starts another day."""
    state = DAILY
    for _ in range(3):
        state = poll(state)
    assert conditional_headers(state, NOW + DAY - 1) == CONDITIONAL
    assert conditional_headers(state, NOW + DAY) == {}
    state = poll(state, PollResult.UNCHANGED, status=200, at=NOW + DAY)
    assert conditional_headers(state, NOW + 2 * DAY - 1) == CONDITIONAL


def test_nobody_is_believed_until_its_list_is_replaced() -> None:
    """One request is unconditional before all items of the feed can be replaced.

    If responses 304 were wrong, items would otherwise be lost. Here all items are replaced in six
    hours, so the unconditional request is sent after six hours less one interval.
    """
    state = polled(*every(30 * MINUTE, 13), etag='"1"')
    assert (state.window, state.interval) == (6 * HOUR, 15 * MINUTE)
    assert conditional_headers(state, NOW + 5.5 * HOUR) != {}
    assert conditional_headers(state, NOW + 5.75 * HOUR) == {}


# Permanent redirects


def test_a_permanent_redirect_is_kept_when_all_polls_of_seven_days_have_seen_it() -> None:
    """A permanent redirect replaces the URL only after all polls of seven days have seen it."""
    state = poll(DAILY, moved_to=MOVED, at=NOW)
    for days in (1, 3, 6.99):
        state = poll(state, moved_to=MOVED, at=NOW + days * DAY)
        assert (state.url, state.redirect) == (FEED, MOVED)
    state = poll(state, moved_to=MOVED, at=NOW + 7 * DAY)
    assert (state.url, state.redirect, state.redirect_since) == (MOVED, None, None)
    assert (state.feed, state.etag) == (FEED, DAILY.etag)


@pytest.mark.parametrize("then", [None, FEED, "http://parked.example/"])
def test_a_301_that_goes_back_or_elsewhere_starts_anew(then: str | None) -> None:
    """If a poll sees no redirect or another target, the seven days of a redirect start again.

    Sites that are down redirect all requests to another page for a while.
    """
    state = poll(DAILY, moved_to=MOVED, at=NOW)
    state = poll(state, moved_to=then, at=NOW + 4 * DAY)
    state = poll(state, moved_to=MOVED, at=NOW + 8 * DAY)
    assert (state.url, state.redirect_since) == (FEED, NOW + 8 * DAY)


def test_https_of_the_same_address_is_kept_at_once() -> None:
    """A redirect to https of the same address replaces the URL at once, without seven days."""
    state = poll(DAILY, moved_to=FEED.replace("http:", "https:"))
    assert (state.url, state.feed) == (FEED.replace("http:", "https:"), FEED)


@pytest.mark.parametrize("to", ["https://www.news.example/feed/", "https://news.example/feed"])
def test_https_of_another_address_waits_like_any_other(to: str) -> None:
    """A redirect to https with another path or host must wait for seven days like any other."""
    state = poll(DAILY, moved_to=to)
    assert (state.url, state.redirect) == (FEED, to)


def test_a_failed_poll_says_nothing_of_a_redirect() -> None:
    """A failed poll neither confirms nor ends a permanent redirect."""
    state = poll(DAILY, moved_to=MOVED, at=NOW)
    state = failed(state, at=NOW + DAY, moved_to="http://down.example/")
    assert (state.redirect, state.redirect_since) == (MOVED, NOW)


# Outcomes of polls, and when a feed is due


def test_an_outcome_counts_once_and_in_its_turn() -> None:
    """Only the outcome of the feed's next poll is expected.

    An outcome that was sent again after a crash, or belongs to another feed, is unexpected.
    """

    def outcome(sequence: int, feed: str = FEED, site: str = SITE) -> PollOutcome:
        return PollOutcome(
            site=site, feed=feed, sequence=sequence, at=NOW, result=PollResult.UNCHANGED, status=304
        )

    assert is_expected_outcome(DAILY, outcome(DAILY.sequence + 1))
    assert not is_expected_outcome(DAILY, outcome(DAILY.sequence))
    assert not is_expected_outcome(DAILY, outcome(DAILY.sequence + 2))
    assert not is_expected_outcome(DAILY, outcome(DAILY.sequence + 1, feed=MOVED))
    assert not is_expected_outcome(apply_outcome(DAILY, outcome(2), RULES), outcome(2))


def test_a_feed_says_its_own_title() -> None:
    """The feed's own title replaces the user's title; without one, the last title is kept."""
    state = replace(feed(), title="added as")
    assert poll(state, PollResult.ITEMS).title == "added as"
    assert poll(state, PollResult.ITEMS, title="News").title == "News"


def test_new_items_are_counted() -> None:
    """The state counts only new items, which are the items that are sent to the topic fetches."""
    state = polled(*every(HOUR, 5))
    assert poll(state, PollResult.ITEMS, items=(item(1.0), item(2.0, is_new=False))).items == 6


def test_skipped_hours_of_the_list_hold_for_the_next_poll() -> None:
    """A poll that is due in the feed's skipped hours is postponed, here from 9:00 to 12:00."""
    state = polled(*every(2 * HOUR), skip_hours=(8, 9, 10, 11))
    assert NOW + 4 * HOUR <= state.next_due < NOW + 5 * HOUR
    assert state.interval == HOUR


def test_a_feed_that_is_due_soon_or_was_due_just_now_keeps_its_time() -> None:
    """After a restart, a feed that is due soon or was due just now keeps its due time."""
    for now in (NOW, DAILY.next_due, DAILY.next_due + DAILY.interval):
        assert due_after_takeover(DAILY, now, RULES) == DAILY.next_due


def test_feeds_overdue_after_an_outage_are_spread_over_one_interval() -> None:
    """After an outage, overdue feeds are spread evenly over one interval."""
    now = NOW + 30 * DAY
    states = [replace(DAILY, feed=f"{FEED}/{number}") for number in range(1_000)]
    waits = [due_after_takeover(state, now, RULES) - now for state in states]
    assert all(0 <= wait <= DAILY.interval for wait in waits)
    quarters = [
        sum(wait // (DAILY.interval / 4) == quarter for wait in waits) for quarter in range(4)
    ]
    assert min(quarters) > 200


@given(st.floats(0, 1e6), st.floats(0, 1))
def test_another_rebalance_changes_no_turn(outage: float, later: float) -> None:
    """After an outage, each later rebalance before the feed's due time gives the same due time."""
    now = DAILY.next_due + DAILY.interval + 1 + outage
    due = due_after_takeover(DAILY, now, RULES)
    assert due_after_takeover(DAILY, now + later * (due - now), RULES) == due


def test_a_feed_that_is_gone_is_never_due() -> None:
    """A feed that is gone is never due after a restart."""
    assert due_after_takeover(poll(DAILY, PollResult.GONE), NOW + 30 * DAY, RULES) == math.inf


# Properties that hold for any outcomes

_SECONDS = st.none() | st.floats(-1e9, 1e18) | st.just(math.inf)
_ITEMS = st.lists(
    st.builds(
        PolledItem,
        st.binary(min_size=16, max_size=16),
        st.none() | st.floats(allow_nan=True) | st.floats(NOW - DAY, NOW + DAY),
        st.booleans(),
    ),
    max_size=30,
).map(tuple)
_OUTCOMES = st.fixed_dictionaries(
    {
        "result": st.sampled_from(PollResult),
        "at": st.floats(NOW - DAY, NOW + 30 * DAY),
        "status": st.sampled_from([None, 200, 304, 410, 429, 503]),
        "max_age": _SECONDS,
        "ttl": _SECONDS,
        "no_cache": st.booleans(),
        "retry_after": st.none() | st.floats(0, 30 * DAY),
        "moved_to": st.sampled_from([None, FEED, MOVED]),
        "skip_hours": st.lists(st.integers(0, 23), max_size=24).map(tuple),
        "skip_days": st.lists(st.integers(0, 6), max_size=7).map(tuple),
        "items": _ITEMS,
    }
)
_RULES = st.builds(PollRules, st.floats(1, HOUR), st.floats(HOUR, 30 * DAY), st.integers(1, 5))


@given(st.lists(_OUTCOMES, min_size=1, max_size=8), _RULES)
def test_a_feed_is_always_due_later_within_its_bounds(
    outcomes: list[dict[str, object]], rules: PollRules
) -> None:
    """After any outcomes, a feed is due later than its poll, by at most a maximum wait.

    This maximum is the longest wait and one week of skipped hours.
    """
    state = feed()
    longest = 1.1 * max(rules.interval_max, BACKOFF_MAX, RETRY_AFTER_MAX) + 7 * DAY
    for number, fields in enumerate(outcomes, start=1):
        outcome = PollOutcome(site=SITE, feed=FEED, sequence=number, **fields)  # type: ignore[arg-type]
        assert is_expected_outcome(state, outcome)
        state = apply_outcome(state, outcome, rules)
        assert outcome.at < state.next_due <= outcome.at + longest
        assert state.last_success is None or (
            rules.interval_min <= state.interval <= rules.interval_max
        )
        assert all(0 < gap < math.inf for gap in state.gaps)
        assert (
            state.status is FeedStatus.GONE
            or due_after_takeover(state, outcome.at, rules) == state.next_due
        )
        assert FeedState.decode(state.encode()) == state
