"""State of a feed: stored bytes, due time, and what changes if the feed is added again."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from urltree.crawl.decisions.poll.feed_state import (
    NOT_POLLED_SINCE,
    FeedState,
    FeedStateError,
    FeedStatus,
    Subscription,
    add_again,
    child_state,
    due_time,
    new_feed_state,
    update_child,
)
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions
from urltree.crawl.decisions.poll.transition import apply_outcome
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


MORE = replace(
    STATE,
    migrating_until=1_805_000_000.0,
    options=SourceOptions(
        kind=SourceKind.SITEMAP,
        content=Content.AUTO,
        interval_min=60.0,
        is_paused=True,
        credentials="site",
    ),
    offset=12,
    was_read=True,
    parent="http://bücher.example/index.xml",
    modified=1_799_000_000.0,
    seen_before=1_798_000_000.0,
    learned={"places": ["main a"]},
    guids_count=False,
    unread=3,
    is_cut=True,
    coverage=(0.5, 1.0),
    content_decided=Content.FEED,
)

STORED_MORE = STORED[:-1] + (
    ',"migrating_until":1805000000.0,"options":{"kind":"sitemap","content":"auto",'
    '"interval_min":60.0,"is_paused":true,"credentials":"site"},"offset":12,"was_read":true,'
    '"parent":"http://bücher.example/index.xml","modified":1799000000.0,'
    '"seen_before":1798000000.0,"learned":{"places":["main a"]},"guids_count":false,"unread":3,'
    '"is_cut":true,"coverage":[0.5,1.0],"content_decided":"feed"}'
)


def test_stored_bytes_never_change() -> None:
    """A state is stored as exactly these bytes, so that later releases can read it."""
    assert STATE.encode().decode() == STORED[:-1] + ',"migrating_until":null}'
    assert MORE.encode().decode() == STORED_MORE


def test_stored_bytes_are_read_back() -> None:
    """Decoding the stored bytes gives an equal state, whose fields have the same types."""
    assert FeedState.decode(STATE.encode()) == STATE
    state = FeedState.decode(STORED_MORE.encode())
    assert state == MORE
    assert state.status is FeedStatus.QUARANTINED
    assert state.options.kind is SourceKind.SITEMAP


def test_a_row_of_a_former_release_begins_its_migration() -> None:
    """A row without the new fields was written before 0.3: its items have other keys."""
    state = FeedState.decode(STORED.encode())
    assert state == replace(STATE, migrating_until=NOT_POLLED_SINCE, was_read=True)
    assert FeedState.decode(state.encode()) == state
    unread = STORED.replace('"unconditional_at":1799980000.0', '"unconditional_at":null')
    assert not FeedState.decode(unread.encode()).was_read


def test_a_former_release_refuses_a_row_of_this_one() -> None:
    """Each row has a field that releases before 0.3 do not know, so they end as on any new row."""
    row = new_feed_state("https://example.org/rss", "example.org", 0.0).encode()
    assert b'"migrating_until":null' in row


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
        STORED_MORE.replace("sitemap", "telegraph").encode(),
    ],
)
def test_a_row_of_another_release_is_an_error_of_ours(row: bytes) -> None:
    """A stored state that this release cannot decode raises FeedStateError; no value is guessed."""
    with pytest.raises(FeedStateError, match="feed_state"):
        FeedState.decode(row)


FOLLOWED = replace(
    new_feed_state(
        "https://example.org/rss",
        "example.org",
        0.0,
        Subscription(title="News", meta={"a": "b"}),
    ),
    next_due=900.0,
    errors=3,
    trouble="dns",
    message="no such name",
    etag="1",
    sequence=7,
)


def test_a_feed_that_is_followed_keeps_its_state() -> None:
    """If an active feed is added again, only the user's title and metadata are replaced."""
    mine = Subscription(title="Mine", offset=7)
    assert add_again(FOLLOWED, 100.0, mine) == replace(FOLLOWED, title="Mine", meta={}, offset=7)
    assert add_again(FOLLOWED, 100.0, Subscription(meta=FOLLOWED.meta)) == FOLLOWED


@pytest.mark.parametrize("status", [FeedStatus.GONE, FeedStatus.QUARANTINED])
def test_a_feed_that_was_given_up_is_due_at_once(status: FeedStatus) -> None:
    """If a quarantined or gone feed is added again, it is due at once, with no errors."""
    state = add_again(replace(FOLLOWED, status=status), 100.0, Subscription())
    assert (state.status, state.next_due, state.errors) == (FeedStatus.ACTIVE, 100.0, 0)
    assert (state.trouble, state.message) == (None, None)
    assert (state.etag, state.sequence) == ("1", 7)


def test_a_feed_that_nobody_follows_or_that_is_gone_is_never_due() -> None:
    """A removed or gone feed is never due. A quarantined feed is due, as it is still polled."""
    assert due_time(FOLLOWED) == 900.0
    assert due_time(replace(FOLLOWED, status=FeedStatus.QUARANTINED)) == 900.0
    assert due_time(replace(FOLLOWED, status=FeedStatus.GONE)) == math.inf
    assert due_time(None) == math.inf


def test_a_source_of_another_kind_begins_anew() -> None:
    """If only the options change, the state stays; another kind is a first poll."""
    state = replace(FOLLOWED, was_read=True)
    paused = Subscription(options=SourceOptions(is_paused=True))
    section = Subscription(options=SourceOptions(kind=SourceKind.SECTION))
    assert add_again(state, 100.0, paused).etag == "1"
    begun = add_again(state, 100.0, section)
    assert (begun.etag, begun.was_read, begun.next_due, begun.sequence) == (None, False, 100.0, 7)


def test_a_paused_source_is_not_due_until_it_is_resumed() -> None:
    """The pause ends when the source is added again without it."""
    paused = replace(FOLLOWED, options=SourceOptions(is_paused=True))
    assert due_time(paused) == math.inf
    assert due_time(add_again(paused, 100.0, Subscription())) == 900.0


# Sitemaps of an index

DAY = 86_400.0
INDEX = replace(
    new_feed_state("https://example.org/index.xml", "example.org", 90 * DAY),
    options=SourceOptions(kind=SourceKind.SITEMAP),
    was_read=True,
    seen_before=88 * DAY,
    offset=4,
)
URL = "https://example.org/one.xml"


def read(child: FeedState, at: float) -> FeedState:
    """Return the state of a sitemap after a successful poll."""
    return replace(child, read_modified=child.modified, last_success=at, next_due=at + 900)


def test_a_sitemap_of_an_index_is_due_when_its_date_changes() -> None:
    """Between two changes it is never due, whatever its own schedule says."""
    child = child_state(INDEX, URL, 89.5 * DAY + 1, 90 * DAY)
    assert (child.parent, child.seen_before, child.was_read) == (INDEX.feed, 88 * DAY, True)
    assert (due_time(child), child.offset) == (90 * DAY, 4)
    child = read(child, 90 * DAY)
    assert due_time(child) == math.inf
    assert due_time(update_child(child, INDEX, child.modified, 91 * DAY)) == math.inf
    assert due_time(update_child(child, INDEX, 90.5 * DAY + 1, 90.6 * DAY)) <= 90.6 * DAY


def test_an_old_sitemap_of_an_index_is_not_asked_for() -> None:
    """All its pages are older than those that the first poll takes."""
    child = child_state(INDEX, URL, 80 * DAY, 90 * DAY)
    assert due_time(child) == math.inf
    assert due_time(update_child(child, INDEX, 91 * DAY, 91 * DAY)) <= 91 * DAY


def test_a_sitemap_without_date_follows_its_schedule() -> None:
    """If the index does not give a date, the sitemap may have changed at any time."""
    child = read(child_state(INDEX, URL, None, 90 * DAY), 90 * DAY)
    assert due_time(child) == 90 * DAY + 900


def test_a_date_without_time_allows_changes_for_a_day() -> None:
    """On the day of its last change a sitemap may change again; later it may not."""
    child = child_state(INDEX, URL, 90 * DAY, 90.2 * DAY)
    assert due_time(read(child, 90.2 * DAY)) == 90.2 * DAY + 900
    assert due_time(read(child, 91.0 * DAY)) == math.inf


def test_a_sitemap_that_fails_keeps_its_wait() -> None:
    """Another date does not shorten the wait after an error."""
    child = replace(child_state(INDEX, URL, None, 90 * DAY), errors=2, next_due=95 * DAY)
    assert due_time(update_child(child, INDEX, 91 * DAY, 91 * DAY)) == 95 * DAY


def test_the_first_poll_of_an_index_is_capped_for_each_sitemap() -> None:
    """The pages of all sitemaps of an index share the cap of its first poll."""
    child = child_state(INDEX, URL, None, 90 * DAY, room=7)
    assert child.options.first_poll_max == 7
    assert update_child(child, INDEX, None, 91 * DAY).options.first_poll_max == 7


def test_a_change_that_the_index_names_during_a_request_is_asked_for() -> None:
    """The response may be older than the change, so the sitemap has not been read since."""
    child = child_state(INDEX, URL, 89.5 * DAY + 1, 90 * DAY)
    outcome = PollOutcome(
        site=child.site, feed=URL, sequence=1, at=90 * DAY + 5, result=PollResult.ITEMS
    )
    assert due_time(apply_outcome(child, outcome, PollRules())) == math.inf
    child = update_child(child, INDEX, 90 * DAY + 6, 90 * DAY + 7)
    child = apply_outcome(child, outcome, PollRules())
    assert due_time(child) <= 91 * DAY
