"""How long a feed waits after failed polls."""

from __future__ import annotations

import pytest

from tests.urltree.crawl.decisions.polls import (
    DAY,
    HOUR,
    MINUTE,
    RULES,
    every,
    failed,
    feed,
    poll,
    polled,
)
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStatus
from urltree.crawl.decisions.poll.outcome import PollResult
from urltree.crawl.decisions.response import Trouble

HOURLY = polled(*every(2 * HOUR))  # a feed that is polled every hour


def wait(state: FeedState) -> float:
    """Return the seconds between the feed's last poll and its next one."""
    assert state.last_poll is not None
    return state.next_due - state.last_poll


@pytest.mark.parametrize(
    ("errors", "expected"),
    [(1, HOUR), (2, 2 * HOUR), (3, 4 * HOUR), (4, 8 * HOUR), (5, 12 * HOUR), (19, 12 * HOUR)],
)
def test_each_error_doubles_the_wait_up_to_half_a_day(errors: int, expected: float) -> None:
    """After the first error the wait is the feed's interval; each further error doubles the wait.

    The maximum is half a day, and jitter changes each wait by up to a tenth.
    """
    state = failed(HOURLY, errors)
    assert wait(state) == pytest.approx(expected, rel=0.1)
    assert (state.errors, state.status) == (errors, FeedStatus.ACTIVE)


def test_a_feed_that_never_worked_backs_off_from_the_shortest_interval() -> None:
    """A feed without a successful poll starts its waits at the shortest interval.

    It may have been added shortly before its server was started.
    """
    assert wait(failed(feed())) == pytest.approx(15 * MINUTE, rel=0.1)
    assert wait(failed(feed(), 2)) == pytest.approx(30 * MINUTE, rel=0.1)


def test_a_thousand_errors_overflow_nothing() -> None:
    """Even after 1,200 errors the calculation does not overflow, and the wait is one day."""
    assert wait(failed(HOURLY, 1_200)) == pytest.approx(DAY, rel=0.1)


def test_twenty_errors_in_a_row_are_quarantine_with_a_probe_a_day() -> None:
    """A feed is polled once a day after twenty errors in a row (setting quarantine_errors)."""
    state = failed(HOURLY, RULES.quarantine_errors)
    assert state.status is FeedStatus.QUARANTINED
    assert wait(state) == pytest.approx(DAY, rel=0.1)


@pytest.mark.parametrize("result", [PollResult.ITEMS, PollResult.UNCHANGED])
def test_one_success_ends_it_all(result: PollResult) -> None:
    """A successful poll resets the error count and error message, and ends the quarantine."""
    state = poll(failed(HOURLY, 25, trouble=Trouble.DNS, message="no such name"), result)
    assert (state.status, state.errors) == (FeedStatus.ACTIVE, 0)
    assert (state.trouble, state.message) == (None, None)
    assert wait(state) <= RULES.interval_max


@pytest.mark.parametrize("status", [429, 503])
def test_nobody_is_asked_before_its_retry_after_is_over(status: int) -> None:
    """A feed is not polled before its Retry-After is over: jitter never shortens this wait."""
    for sequence in range(50):
        state = failed(feed(sequence=sequence), status=status, retry_after=5 * HOUR)
        assert 5 * HOUR <= wait(state) <= 5.5 * HOUR


def test_a_short_retry_after_does_not_shorten_the_back_off() -> None:
    """Retry-After is a minimum: a short one does not shorten the wait after errors."""
    assert wait(failed(HOURLY, 4, retry_after=1.0)) == pytest.approx(8 * HOUR, rel=0.1)


def test_trouble_is_told_with_the_state() -> None:
    """The feed's state contains the last error, which the command `feeds list` shows."""
    state = failed(HOURLY, trouble=Trouble.TIMEOUT, message="20 s without a byte")
    assert (state.trouble, state.message) == ("timeout", "20 s without a byte")


def test_a_feed_that_is_gone_is_asked_no_more() -> None:
    """A single response with status 410 ends the polls of a feed."""
    assert poll(HOURLY, PollResult.GONE).status is FeedStatus.GONE
