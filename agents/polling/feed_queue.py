"""Where each feed of a worker stands between two polls.

    ┌▶ schedule ──due──▶ host's queue ──its turn──▶ poll ──▶ outcome on its way ──applied─┐
    │                                                 │                │                  │
    └───────────────────────◀── nothing came of it ───┴────── lost ────┘◀─────────────────┘

A feed is in one of these places only, so that nobody polls it twice at once. An outcome that does
not come back, for it was lost in a rebalance, is waited for no longer than `LOST`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from urltree.crawl.decisions.host.host_queues import HostQueues
from urltree.crawl.decisions.poll.schedule import FeedKey, Schedule

LOST_AFTER = 60.0  # seconds; an outcome takes 0.2 s


@dataclass(slots=True)
class PendingPoll:
    """A feed that has left the schedule.

    Attributes:
        host: in whose queue it waits, or that is busy with it.
        sequence: that the outcome of its poll will have; None until it begins.
    """

    host: str
    sequence: int | None = None


class FeedQueue:
    """The feeds of a worker's partitions. Times are seconds since 1970."""

    def __init__(self) -> None:
        self._schedule = Schedule()
        self._hosts: HostQueues[FeedKey] = HostQueues()
        self._pending: dict[FeedKey, PendingPoll] = {}
        self._sent: dict[FeedKey, float] = {}  # in the order of the times

    def __len__(self) -> int:
        """Feeds that are followed."""
        return len(self._schedule) + len(self._pending)

    @property
    def overdue(self) -> int:
        """Feeds that are due and wait for their host's turn."""
        return len(self._hosts)

    def put(self, key: FeedKey, due: float) -> None:
        """Set when a feed is due; one that is in work comes back by itself."""
        if key not in self._pending:
            self._schedule.put(key, due)

    def remove(self, key: FeedKey) -> None:
        """Poll a feed no more; one that is in work is found without its row."""
        self._schedule.remove(key)

    def pop(self, now: float) -> list[FeedKey]:
        """Take out what is due; each is to be queued, or put back."""
        return self._schedule.pop(now)

    def queue(self, key: FeedKey, host: str, now: float) -> None:
        """Let a feed wait for its host's turn."""
        if key in self._pending:
            return
        self._pending[key] = PendingPoll(host)
        self._hosts.add(host, key, now)

    def take_ready(self, now: float, at_most: int) -> list[FeedKey]:
        """Feeds whose turn has come, one a host."""
        return [key for _, key in self._hosts.take(now, at_most)] if at_most > 0 else []

    def begin(self, key: FeedKey, sequence: int) -> None:
        """A poll begins, whose outcome will have this sequence."""
        self._pending[key].sequence = sequence

    def mark_sent(self, key: FeedKey, now: float) -> None:
        """The outcome of a poll is on its way; `now` and that of `lost` are monotonic seconds."""
        self._sent.pop(key, None)
        self._sent[key] = now

    def is_waiting_for(self, key: FeedKey, sequence: int) -> bool:
        """Whether the outcome of this poll is waited for."""
        pending = self._pending.get(key)
        return pending is not None and pending.sequence == sequence

    def put_back(self, key: FeedKey, due: float, host_next_at: float) -> None:
        """A poll is over, or came to nothing: the feed is due again then, its host is free."""
        pending = self._pending.pop(key, None)
        self._sent.pop(key, None)
        if pending is not None:
            self._hosts.done(pending.host, host_next_at)
        self._schedule.put(key, due)

    def find_lost(self, now: float) -> list[FeedKey]:
        """Feeds whose outcome did not come back."""
        return [
            key for key, _ in takewhile(lambda sent: now - sent[1] > LOST_AFTER, self._sent.items())
        ]

    def next_at(self, *, has_room: bool) -> float | None:
        """When there is something to do.

        Args:
            has_room: whether another poll may begin.
        """
        times = (self._schedule.next_due(), self._hosts.next_at() if has_room else None)
        return min((time for time in times if time is not None), default=None)

    def clear(self) -> None:
        """Partitions move: all is read anew."""
        self._schedule.clear()
        self._hosts.clear()
        self._pending.clear()
        self._sent.clear()
