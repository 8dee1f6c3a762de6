"""State of a feed: stored bytes, due time, and what changes if the feed is added again."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from urltree.crawl.decisions.poll.feed_state import (
    FeedState,
    FeedStateError,
    FeedStatus,
    add_again,
    due_time,
    new_feed_state,
)
from urltree.crawl.decisions.response import Trouble

STATE = FeedState(
    site="bücher.example",
    feed="http://bücher.example/feed",
    url="https://bücher.example/feed",
    redirect="https://new.example/feed",
    redirect_since=1_800_000_000.25,
    title='News "of" today',
    meta={"team": "a"},
    etag='W/"1"',
    last_modified="Fri, 15 Jan 2027 08:00:00 GMT",
    body_hash="00ff",
    next_due=1_800_003_600.5,
    interval=3_600.0,
    gaps=(7_200.0, 60.0),
    newest=1_799_999_000.0,
    window=86_400.0,
    floor=900.0,
    skip_hours=(0, 1),
    skip_days=(5, 6),
    errors=2,
    trouble=Trouble.TIMEOUT,
    message="20 s without a byte",
    last_poll=1_800_000_000.0,
    last_success=1_799_990_000.0,
    unconditional_at=1_799_980_000.0,
    items=42,
    status=FeedStatus.QUARANTINED,
    sequence=7,
    swept_at=1_799_000_000.0,
)

STORED = (
    '{"version":1,"site":"bücher.example","feed":"http://bücher.example/feed",'
    '"url":"https://bücher.example/feed","redirect":"https://new.example/feed",'
    '"redirect_since":1800000000.25,"title":"News \\"of\\" today","meta":{"team":"a"},'
    '"etag":"W/\\"1\\"","last_modified":"Fri, 15 Jan 2027 08:00:00 GMT","body_hash":"00ff",'
    '"next_due":1800003600.5,"interval":3600.0,"gaps":[7200.0,60.0],"newest":1799999000.0,'
    '"window":86400.0,"floor":900.0,"skip_hours":[0,1],"skip_days":[5,6],"errors":2,'
    '"trouble":"timeout","message":"20 s without a byte","last_poll":1800000000.0,'
    '"last_success":1799990000.0,"unconditional_at":1799980000.0,"items":42,'
    '"status":"quarantined","sequence":7,"swept_at":1799000000.0}'
)


def test_stored_bytes_never_change() -> None:
    """A feed's state is stored as exactly these bytes, so that later releases can read it."""
    assert STATE.encode().decode() == STORED


def test_stored_bytes_are_read_back() -> None:
    """Decoding the stored bytes gives an equal state, whose fields have the same types."""
    state = FeedState.decode(STORED.encode())
    assert state == STATE
    assert state.status is FeedStatus.QUARANTINED


@pytest.mark.parametrize(
    "row",
    [
        b"",
        b"[]",
        b"{}",
        STORED.replace('"version":1', '"version":2').encode(),
        STORED.replace("quarantined", "asleep").encode(),
        STORED.replace('"swept_at"', '"unknown"').encode(),
        STORED[:-1].encode(),
    ],
)
def test_a_row_of_another_release_is_an_error_of_ours(row: bytes) -> None:
    """A stored state that this release cannot decode raises FeedStateError; no value is guessed."""
    with pytest.raises(FeedStateError, match="feed_state"):
        FeedState.decode(row)


FOLLOWED = replace(
    new_feed_state("https://example.org/rss", "example.org", 0.0, "News", {"a": "b"}),
    next_due=900.0,
    errors=3,
    trouble="dns",
    message="no such name",
    etag="1",
    sequence=7,
)


def test_a_feed_that_is_followed_keeps_its_state() -> None:
    """If an active feed is added again, only the user's title and metadata are replaced."""
    assert add_again(FOLLOWED, 100.0, "Mine", {}) == replace(FOLLOWED, title="Mine", meta={})
    assert add_again(FOLLOWED, 100.0, None, FOLLOWED.meta) == FOLLOWED


@pytest.mark.parametrize("status", [FeedStatus.GONE, FeedStatus.QUARANTINED])
def test_a_feed_that_was_given_up_is_due_at_once(status: FeedStatus) -> None:
    """If a quarantined or gone feed is added again, it is due at once, with no errors."""
    state = add_again(replace(FOLLOWED, status=status), 100.0, None, {})
    assert (state.status, state.next_due, state.errors) == (FeedStatus.ACTIVE, 100.0, 0)
    assert (state.trouble, state.message) == (None, None)
    assert (state.etag, state.sequence) == ("1", 7)


def test_a_feed_that_nobody_follows_or_that_is_gone_is_never_due() -> None:
    """A removed or gone feed is never due. A quarantined feed is due, as it is still polled."""
    assert due_time(FOLLOWED) == 900.0
    assert due_time(replace(FOLLOWED, status=FeedStatus.QUARANTINED)) == 900.0
    assert due_time(replace(FOLLOWED, status=FeedStatus.GONE)) == math.inf
    assert due_time(None) == math.inf
