"""What is stored of a feed: it outlives every release."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.answer import Trouble
from urltree.crawl.decisions.poll.state import FeedState, StateError, Status

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
    status=Status.QUARANTINED,
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
    """Version 1, letter by letter."""
    assert STATE.encode().decode() == STORED


def test_stored_bytes_are_read_back() -> None:
    """With their types: tuples, and a status."""
    state = FeedState.decode(STORED.encode())
    assert state == STATE
    assert state.status is Status.QUARANTINED


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
    """It is no feed's fault, and nothing is guessed."""
    with pytest.raises(StateError, match="feed_state"):
        FeedState.decode(row)
