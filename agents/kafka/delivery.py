"""Delivery, at least once: when a record counts as done.

    partition 3    ■ ■ ■ □ ■ □ □        ■ confirmed   □ in work
                         ▲ committed up to here, not further

Several records are in work at once. One is done when Kafka has confirmed all that was sent for it
*and* its writes to the changelog. Only what is done without a gap from the first record in work
is committed: Faust itself commits past an unacked event, and Kafka's answers come in any order.

Where Kafka refuses or does not answer, the process ends: nothing was committed, all is replayed.
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
    """What delivery needs of the consumer (`agents.kafka.transport.Consumer`)."""

    def confirm(self, message: Message) -> None:
        """This record and all before it are done."""

    def release(self, message: Message) -> None:
        """This record is not to be processed here."""


class Work:
    """One record in work and the confirmations that it waits for.

    Attributes:
        message: the record as Kafka gave it.
        bytes: size of the record and of what was sent for it.
        refuse: sends the dead letter, if Kafka finds that what was sent is too large.
        on_done: called when Kafka has confirmed all of it.
    """

    __slots__ = (
        *("_closed", "_delivery", "_waiting"),
        *("bytes", "done", "message", "on_done", "refuse", "since"),
    )

    def __init__(self, delivery: Delivery, message: Message) -> None:
        self._delivery = delivery
        self._waiting = 0
        self._closed = False
        self.message = message
        self.bytes = len(message.value or b"")
        self.done = False
        self.since = monotonic()
        self.refuse: Callable[[BaseException], Awaitable[None]] | None = None
        self.on_done: Callable[[Work], None] | None = None

    def wait_for(self, future: asyncio.Future[Any], size: int = 0) -> None:
        """The record is not done before this future is."""
        self._waiting += 1
        if not self.done:
            self.bytes += size
            self._delivery.bytes += size
        future.add_done_callback(self._on_done)

    def close(self) -> None:
        """Nothing more is sent for this record."""
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
            return  # the worker is stopping: the record stays in work, and is replayed
        else:
            self._check()

    def _check(self) -> None:
        if self._closed and self._waiting == 0 and not self.done:
            self.done = True
            if self.on_done is not None:
                self.on_done(self)
            self._delivery.advance(self.message)


class Delivery:
    """All records in work, in the order of their offsets.

    Args:
        commits: told what is done.
        on_failure: called when a confirmation failed; ends the process.
        max_records, max_bytes: bounds of what is in work.

    Attributes:
        records, bytes: in work now.
        moved_at: when a record was last done or begun while none was in work, or something else
            happened for them; monotonic seconds.
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
        """Whether no record is taken into work before another is done."""
        return self.records >= self._max_records or self.bytes >= self._max_bytes

    def moved(self) -> None:
        """Something has happened for the records in work, though none is done."""
        self.moved_at = monotonic()

    async def begin(self, message: Message) -> Work:
        """Take a record into work, as soon as there is room."""
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
        """Confirm from the first record of this partition on, up to the first not done."""
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
        """Let go of the newest record in work: its partition is another worker's."""
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
        """Partitions were revoked: what is still in work is replayed by their next owner."""
        for queue in self._queues.values():
            for work in queue:
                work.done = True
                self._commits.release(work.message)
        self._queues.clear()
        self.records = self.bytes = 0
        self._room.set()

    def stalled_for(self) -> float:
        """Seconds for which records were in work and none was done; 0 where none is."""
        return monotonic() - self.moved_at if self.records else 0.0


def _queue_of(message: Message) -> tuple[TP, int]:
    return message.tp, message.generation_id
