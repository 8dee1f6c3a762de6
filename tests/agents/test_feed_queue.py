"""The feed queue has each feed once, either waiting or being polled, and loses no feed."""

from __future__ import annotations

import math

from agents.polling.feed_queue import LOST_AFTER, FeedQueue
from urltree.crawl.decisions.poll.schedule import FeedKey

A: FeedKey = (0, b"a")
B: FeedKey = (0, b"b")


def due(queue: FeedQueue, now: float, host: str = "example.org") -> list[FeedKey]:
    """Return the feeds that a worker may poll now, without a limit of simultaneous polls."""
    for key in queue.pop(now):
        queue.queue(key, host, now)
    return queue.take_ready(now, 100)


def test_a_feed_is_polled_when_it_is_due_and_its_host_is_free() -> None:
    """A feed is polled when it is due and its host has neither a poll in progress nor a pause.

    After the outcome of the poll, the feed has a new due time, and its host has a pause.
    """
    queue = FeedQueue()
    queue.put(A, 10.0)
    queue.put(B, 10.0)
    assert due(queue, 9.0) == []
    assert due(queue, 10.0) == [A]
    assert due(queue, 1_000.0) == []
    assert (len(queue), queue.overdue) == (2, 1)
    queue.begin(A, 1, 1_000.0)
    assert queue.asked == 1
    queue.put_back(A, 2_000.0, host_next_at=1_001.0)
    assert due(queue, 1_000.5) == []
    assert due(queue, 1_001.0) == [B]
    queue.put_back(B, math.inf, host_next_at=1_002.0)
    assert len(queue) == 1
    assert due(queue, 2_000.0) == [A]


def test_a_feed_in_work_is_not_scheduled_besides() -> None:
    """Adding a feed during its poll does not start a second poll of it."""
    queue = FeedQueue()
    queue.put(A, 0.0)
    assert due(queue, 0.0) == [A]
    queue.put(A, 0.0)
    assert due(queue, 5.0) == []
    assert len(queue) == 1


def test_a_feed_whose_outcome_is_lost_comes_back() -> None:
    """If no answer arrives within LOST_AFTER seconds, the feed can be asked for again.

    The request or its answer may be lost in a rebalance, or because its record was refused.
    """
    queue = FeedQueue()
    for key, host, at in ((B, "b.example", 0.0), (A, "a.example", 10.0)):
        queue.put(key, at)
        assert due(queue, at, host) == [key]
        queue.begin(key, 1, at)
    assert queue.find_lost(LOST_AFTER) == []
    assert queue.find_lost(LOST_AFTER + 1) == [B]
    queue.put_back(B, LOST_AFTER + 1, LOST_AFTER + 1)
    assert queue.find_lost(LOST_AFTER + 1) == []
    assert queue.asked == 1
    assert due(queue, LOST_AFTER + 1, "b.example") == [B]


def test_only_the_outcome_of_the_poll_that_is_out_ends_it() -> None:
    """Only the outcome with the number of the current poll ends the poll.

    An outcome from a former owner of the feed may arrive earlier.
    """
    queue = FeedQueue()
    queue.put(A, 0.0)
    assert not queue.is_waiting_for(A, 7)
    due(queue, 0.0)
    queue.begin(A, 7, 0.0)
    assert queue.is_waiting_for(A, 7)
    assert not queue.is_waiting_for(A, 6)


def test_there_is_nothing_to_do_at_a_host_while_there_is_no_room() -> None:
    """A worker without room for another poll does not wake for a free host, only for a due feed."""
    queue = FeedQueue()
    queue.put(A, 0.0)
    queue.put(B, 50.0)
    for key in queue.pop(0.0):
        queue.queue(key, "example.org", 0.0)
    assert queue.next_at(has_room=True) == 0.0
    assert queue.next_at(has_room=False) == 50.0
    assert queue.take_ready(0.0, 0) == []


def test_nothing_is_left_when_partitions_move() -> None:
    """`clear` removes all feeds, because after a rebalance they are read again from their rows."""
    queue = FeedQueue()
    queue.put(A, 0.0)
    due(queue, 0.0)
    queue.begin(A, 1, 0.0)
    queue.put(B, 0.0)
    queue.clear()
    assert (len(queue), queue.asked) == (0, 0)
    assert queue.next_at(has_room=True) is None
    assert queue.find_lost(math.inf) == []
