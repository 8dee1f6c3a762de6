"""Where a feed stands between two polls: in one place only, and lost in none."""

from __future__ import annotations

import math

from agents.polling.feed_turns import LOST, FeedTurns
from urltree.crawl.decisions.poll.schedule import Key

A: Key = (0, b"a")
B: Key = (0, b"b")


def due(turns: FeedTurns, now: float, host: str = "example.org") -> list[Key]:
    """Feeds that may be polled now, by a worker with room for many."""
    for key in turns.pop(now):
        turns.queue(key, host, now)
    return turns.take(now, 100)


def test_a_feed_is_polled_when_it_is_due_and_its_host_is_free() -> None:
    """Its outcome frees both."""
    turns = FeedTurns()
    turns.put(A, 10.0)
    turns.put(B, 10.0)
    assert due(turns, 9.0) == []
    assert due(turns, 10.0) == [A]
    assert due(turns, 1_000.0) == []
    assert (len(turns), turns.overdue) == (2, 1)
    turns.begin(A, 1)
    turns.sent(A, 1_000.0)
    turns.put_back(A, 2_000.0, host_next_at=1_001.0)
    assert due(turns, 1_000.5) == []
    assert due(turns, 1_001.0) == [B]
    turns.put_back(B, math.inf, host_next_at=1_002.0)
    assert len(turns) == 1
    assert due(turns, 2_000.0) == [A]


def test_a_feed_in_work_is_not_scheduled_besides() -> None:
    """Whoever adds it meanwhile does not have it polled twice at once."""
    turns = FeedTurns()
    turns.put(A, 0.0)
    assert due(turns, 0.0) == [A]
    turns.put(A, 0.0)
    assert due(turns, 5.0) == []
    assert len(turns) == 1


def test_a_feed_whose_outcome_is_lost_comes_back() -> None:
    """In a rebalance, or because its record was refused."""
    turns = FeedTurns()
    for key, host in ((A, "a.example"), (B, "b.example")):
        turns.put(key, 0.0)
        assert due(turns, 0.0, host) == [key]
        turns.begin(key, 1)
    turns.sent(B, 0.0)
    assert turns.lost(LOST) == []
    assert turns.lost(LOST + 1) == [B]
    turns.put_back(B, LOST + 1, LOST + 1)
    assert turns.lost(math.inf) == []
    assert due(turns, LOST + 1, "b.example") == [B]


def test_only_the_outcome_of_the_poll_that_is_out_ends_it() -> None:
    """Another owner's outcome of the same feed may come in between."""
    turns = FeedTurns()
    turns.put(A, 0.0)
    assert not turns.is_out(A, 7)
    due(turns, 0.0)
    turns.begin(A, 7)
    assert turns.is_out(A, 7)
    assert not turns.is_out(A, 6)


def test_there_is_nothing_to_do_at_a_host_while_there_is_no_room() -> None:
    """A worker with all its polls out waits for one of them, or for a feed to be due."""
    turns = FeedTurns()
    turns.put(A, 0.0)
    turns.put(B, 50.0)
    for key in turns.pop(0.0):
        turns.queue(key, "example.org", 0.0)
    assert turns.next_at(has_room=True) == 0.0
    assert turns.next_at(has_room=False) == 50.0
    assert turns.take(0.0, 0) == []


def test_nothing_is_left_when_partitions_move() -> None:
    """All is read anew from the rows."""
    turns = FeedTurns()
    turns.put(A, 0.0)
    due(turns, 0.0)
    turns.sent(A, 0.0)
    turns.put(B, 0.0)
    turns.clear()
    assert len(turns) == 0
    assert turns.next_at(has_room=True) is None
    assert turns.lost(math.inf) == []
