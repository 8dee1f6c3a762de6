"""At-least-once delivery: when a record is done, and which offset may be committed.

    partition 3    ■ ■ ■ □ ■ □ □        ■ confirmed   □ in flight
                         ▲ committed up to here

Several records are processed at once. A record is done when Kafka has confirmed all that was sent
for it and all its changelog writes. The committed offset stops at the first record that is not
done. Two things make this necessary: Faust itself commits past an unacknowledged event, and
Kafka's confirmations arrive in any order.

If Kafka refuses a record or does not answer in time, the process ends. Unfinished records are not
committed, so they are replayed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Protocol

from aiokafka.errors import MessageSizeTooLargeError
from faust.types import TP
from faust.types.tuples import Message

OnFailure = Callable[[BaseException], None]


class Commits(Protocol):
    """The methods of the consumer (`agents.kafka.transport.Consumer`) that delivery calls."""

    def confirm(self, message: Message) -> None:
        """Mark this record, and all records before it in its partition, as done."""

    def release(self, message: Message) -> None:
        """Give up this record: another worker processes it."""


class Work:
    """One record in flight and the confirmations that it waits for.

    Attributes:
        message: The record as Faust read it. Its headers are only those that count.
        headers: All headers of the record, also those that do not count.
        bytes: Size of the record and of everything sent for it.
        done: Whether all confirmations have arrived, or the record was given up.
        since: Monotonic time at which the work began, in seconds.
        refuse: Function that sends a dead letter. It is called if Kafka reports that a record sent
            for this one is too large.
        on_done: Called when Kafka has confirmed everything that was sent for the record.
    """

    __slots__ = (
        *("_closed", "_delivery", "_waiting"),
        *("bytes", "done", "headers", "message", "on_done", "refuse", "since"),
    )

    def __init__(self, delivery: Delivery, message: Message) -> None:
        self._delivery = delivery
        self._waiting = 0
        self._closed = False
        self.message = message
        self.headers = tuple(message.headers or ())
        self.bytes = len(message.value or b"")
        self.done = False
        self.since = monotonic()
        self.refuse: Callable[[BaseException], Awaitable[None]] | None = None
        self.on_done: Callable[[Work], None] | None = None

    def wait_for(self, future: asyncio.Future[Any], size: int = 0) -> None:
        """Make this record wait for the future, which confirms `size` bytes sent for it."""
        self._waiting += 1
        if not self.done:
            self.bytes += size
            self._delivery.bytes += size
        future.add_done_callback(self._on_done)

    def close(self) -> None:
        """Declare that the stage sends nothing more for this record."""
        self._closed = True
        self._check()

    def _on_done(self, future: asyncio.Future[Any]) -> None:
        self._waiting -= 1
        error = None if future.cancelled() else future.exception()
        if isinstance(error, MessageSizeTooLargeError) and self.refuse is not None:
            refuse, self.refuse = self.refuse, None
            self.wait_for(asyncio.ensure_future(refuse(error)))
        elif error is not None:
            self._delivery.on_failure(error)
        elif future.cancelled():
            return  # the worker is stopping; the record stays unfinished and is replayed
        else:
            self._check()

    def _check(self) -> None:
        if self._closed and self._waiting == 0 and not self.done:
            self.done = True
            if self.on_done is not None:
                self.on_done(self)
            self._delivery.advance(self.message)


class Delivery:
    """All records in flight, in offset order for each partition.

    Args:
        commits: Consumer, on which `Delivery` calls `confirm` for each finished record.
        on_failure: Called when a confirmation failed; it ends the process.
        max_records, max_bytes: Limits of the records in flight.

    Attributes:
        records, bytes: Number and size of the records in flight.
        moved_at: Monotonic time of the last progress, in seconds: a record was finished, a record
            was begun while none was in flight, or `moved` was called.
    """

    def __init__(
        self, commits: Commits, on_failure: OnFailure, *, max_records: int, max_bytes: int
    ) -> None:
        self._commits = commits
        self.on_failure = on_failure
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._queues: dict[tuple[TP, int], deque[Work]] = {}
        self._room = asyncio.Event()
        self.records = 0
        self.bytes = 0
        self.moved_at = monotonic()

    @property
    def is_full(self) -> bool:
        """Whether a limit is reached, so that the next record must wait."""
        return self.records >= self._max_records or self.bytes >= self._max_bytes

    def moved(self) -> None:
        """Note that the work makes progress, although no record is finished yet."""
        self.moved_at = monotonic()

    async def begin(self, message: Message) -> Work:
        """Add a record to the records in flight; wait first while a limit is reached."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()
        work = Work(self, message)
        if not self.records:
            self.moved_at = monotonic()
        self.records += 1
        self.bytes += work.bytes
        self._queues.setdefault(_queue_of(message), deque()).append(work)
        return work

    def advance(self, message: Message) -> None:
        """Confirm the finished records of this partition, up to the first unfinished one."""
        queue = self._queues.get(_queue_of(message))
        while queue and queue[0].done:
            work = queue.popleft()
            self.records -= 1
            self.bytes -= work.bytes
            self.moved_at = monotonic()
            self._commits.confirm(work.message)
        if not queue:
            self._queues.pop(_queue_of(message), None)
        self._room.set()

    def drop(self, work: Work) -> None:
        """Give up the newest record of a partition, because another worker owns the partition."""
        queue = self._queues.get(_queue_of(work.message))
        if queue and queue[-1] is work:
            queue.pop()
            self.records -= 1
            self.bytes -= work.bytes
            if not queue:
                del self._queues[_queue_of(work.message)]
        work.done = True
        self._commits.release(work.message)
        self._room.set()

    def clear(self) -> None:
        """Give up all records in flight after a revocation; the next owners replay them."""
        for queue in self._queues.values():
            for work in queue:
                work.done = True
                self._commits.release(work.message)
        self._queues.clear()
        self.records = self.bytes = 0
        self._room.set()

    def stalled_for(self) -> float:
        """Return the seconds since the last progress, or 0 if no record is in flight."""
        return monotonic() - self.moved_at if self.records else 0.0


def _queue_of(message: Message) -> tuple[TP, int]:
    return message.tp, message.generation_id
