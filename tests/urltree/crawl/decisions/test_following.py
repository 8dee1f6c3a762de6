"""When a feed is due; one that is added again goes on, unless it was given up."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from urltree.crawl.decisions.poll.following import added_again, due_of
from urltree.crawl.decisions.poll.polling import first
from urltree.crawl.decisions.poll.state import Status

STATE = replace(
    first("https://example.org/rss", "example.org", 0.0, "News", {"a": "b"}),
    next_due=900.0,
    errors=3,
    trouble="dns",
    message="no such name",
    etag="1",
    sequence=7,
)


def test_a_feed_that_is_followed_keeps_its_state() -> None:
    """Only what its user says of it is replaced."""
    assert added_again(STATE, 100.0, "Mine", {}) == replace(STATE, title="Mine", meta={})
    assert added_again(STATE, 100.0, None, STATE.meta) == STATE


@pytest.mark.parametrize("status", [Status.GONE, Status.QUARANTINED])
def test_a_feed_that_was_given_up_is_due_at_once(status: Status) -> None:
    """Whoever adds it knows better; the next error is its first."""
    state = added_again(replace(STATE, status=status), 100.0, None, {})
    assert (state.status, state.next_due, state.errors) == (Status.ACTIVE, 100.0, 0)
    assert (state.trouble, state.message) == (None, None)
    assert (state.etag, state.sequence) == ("1", 7)


def test_a_feed_that_nobody_follows_or_that_is_gone_is_never_due() -> None:
    """A quarantined one is: it is probed."""
    assert due_of(STATE) == 900.0
    assert due_of(replace(STATE, status=Status.QUARANTINED)) == 900.0
    assert due_of(replace(STATE, status=Status.GONE)) == math.inf
    assert due_of(None) == math.inf
