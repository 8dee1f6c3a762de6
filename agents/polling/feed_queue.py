"""The places of a worker's feeds between two polls: schedule, host's queue, or asked.

    ┌▶ schedule ──due──▶ host's queue ──host ready──▶ asked ──answer applied──┐
    └────────────────────────◀── lost, or removed ──────┴────────────────────┘

A feed is in exactly one of these places, so a worker never asks for it twice at the same time, and
asks each host for one feed at a time. If no answer has come back after `LOST_AFTER` seconds, the
feed is asked for again; the owner of the host drops the older request then.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from urltree.crawl.decisions.host.host_queues import HostQueues
from urltree.crawl.decisions.poll.schedule import FeedKey, Schedule

LOST_AFTER = 300.0  # seconds after which an answer counts as lost


@dataclass(slots=True)
class PendingPoll:
    """A feed that has left the schedule.

    Attributes:
        host: host in whose queue the feed waits, or that is asked.
        sequence: sequence of the poll's outcome; None until the request was sent.
    """

    host: str
    sequence: int | None = None


class FeedQueue:
    """The feeds that a worker polls, each in one of the places that this file's top shows.

    Times are seconds since 1970 unless noted.
    """

    def __init__(self) -> None:
        self._schedule = Schedule()
        self._hosts: HostQueues[FeedKey] = HostQueues()
        self._pending: dict[FeedKey, PendingPoll] = {}
        self._sent: dict[FeedKey, float] = {}  # ordered by time

    def __len__(self) -> int:
        """Return the number of feeds that are followed."""
        return len(self._schedule) + len(self._pending)

    @property
    def overdue(self) -> int:
        """Number of feeds that are due and wait for their host."""
        return len(self._hosts)

    def put(self, key: FeedKey, due: float) -> None:
        """Set the due time of a feed, unless the feed waits for its host or is being polled."""
        if key not in self._pending:
            self._schedule.put(key, due)

    def remove(self, key: FeedKey) -> None:
        """Remove a feed from the schedule. A running poll of the feed ends when it finds no row."""
        self._schedule.remove(key)

    def pop(self, now: float) -> list[FeedKey]:
        """Remove and return the feeds that are due; the caller queues them or puts them back."""
        return self._schedule.pop(now)

    def queue(self, key: FeedKey, host: str, now: float) -> None:
        """Add a feed to the queue of its host."""
        if key in self._pending:
            return
        self._pending[key] = PendingPoll(host)
        self._hosts.add(host, key, now)

    def take_ready(self, now: float, at_most: int) -> list[FeedKey]:
        """Return feeds whose hosts are ready, at most one for each host."""
        return [key for _, key in self._hosts.take(now, at_most)] if at_most > 0 else []

    def begin(self, key: FeedKey, sequence: int, now: float) -> None:
        """Record that the request for a feed is sent.

        Args:
            key: key of the feed.
            sequence: sequence of the outcome that the answer has.
            now: monotonic seconds, as in `find_lost`.
        """
        self._pending[key].sequence = sequence
        self._sent.pop(key, None)
        self._sent[key] = now

    @property
    def asked(self) -> int:
        """Number of feeds whose answer has not come back."""
        return len(self._sent)

    def is_waiting_for(self, key: FeedKey, sequence: int) -> bool:
        """Return whether the feed has a pending poll with this sequence."""
        pending = self._pending.get(key)
        return pending is not None and pending.sequence == sequence

    def put_back(self, key: FeedKey, due: float, host_next_at: float) -> None:
        """End a poll, whether it has an outcome or not: schedule the feed again, free its host."""
        pending = self._pending.pop(key, None)
        self._sent.pop(key, None)
        if pending is not None:
            self._hosts.done(pending.host, host_next_at)
        self._schedule.put(key, due)

    def find_lost(self, now: float) -> list[FeedKey]:
        """Return the feeds whose answer has not come back within `LOST_AFTER` seconds."""
        return [
            key for key, _ in takewhile(lambda sent: now - sent[1] > LOST_AFTER, self._sent.items())
        ]

    def next_at(self, *, has_room: bool) -> float | None:
        """Return the time at which a feed may be due or ready next, or None.

        Args:
            has_room: whether another poll may begin.
        """
        times = (self._schedule.next_due(), self._hosts.next_at() if has_room else None)
        return min((time for time in times if time is not None), default=None)

    def clear(self) -> None:
        """Remove all feeds, because the partitions move to other workers."""
        self._schedule.clear()
        self._hosts.clear()
        self._pending.clear()
        self._sent.clear()
