"""A feed that is added once more goes on, unless it was given up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from urltree.feeds.following import added_again
from urltree.feeds.polling import first
from urltree.feeds.state import Status

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
