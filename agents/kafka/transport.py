"""Faust's transport with three fixes: confirmation, commits, and ownership of partitions.

Faust's own transport loses or stalls records in three ways. (`agents.kafka.intake` handles the
records that are fetched around a rebalance.)

- `Producer.flush` waits until a buffer is empty, but a busy agent keeps refilling the buffer. A
  commit waits for the flush, so under load no offset is ever committed. Here flush waits only
  for the records that were queued when it was called.
- `Consumer._new_offset` compares with the wrong offset and commits past an unacknowledged event.
  Here only `confirm` moves an offset, and `agents.kafka.delivery` calls it in record order.
- A worker that was stopped for longer than its session continues with the records it has read,
  although another worker owns their partitions. Here `has_session` detects this by the time of
  the last heartbeat that Kafka answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from time import monotonic
from typing import Any

from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata, RecordMetadata
from faust.transport.drivers import TRANSPORTS
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from faust.types.tuples import Message

from agents.kafka.intake import Intake
from agents.telemetry.logs import log
from models.headers import Headers

SCHEME = "urltree"
TRANSPORTS.aliases[SCHEME] = "agents.kafka.transport:Transport"

# Kafka answers a fetch when it has this many bytes, or after this many milliseconds. With Faust's
# defaults a stage would receive records one by one, with one request per record.
FETCH_BYTES = 128 * 1024
FETCH_WAIT = 100


class Producer(driver.Producer):
    """Faust producer that returns a future for the confirmation of each record."""

    def _settings_extra(self) -> Mapping[str, Any]:
        return {"acks": "all", "enable_idempotence": True}

    async def deliver(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
    ) -> asyncio.Future[RecordMetadata]:
        """Queue a record; the returned future is done when all in-sync replicas have it.

        Calls aiokafka directly, because Faust's `Topic.send` costs 150 µs more per record.

        Raises:
            MessageSizeTooLargeError: The record is larger than the settings allow.
            KafkaError: The queue stayed full for `delivery_seconds`.
        """
        future: asyncio.Future[RecordMetadata] = await self._ensure_producer().send(
            topic, value, key=key, partition=partition, headers=list(headers)
        )
        return future

    async def flush(self) -> None:
        """Wait until the records queued now are confirmed, for at most `delivery_seconds`."""
        if self._producer is not None:
            async with asyncio.timeout(self.request_timeout):
                await self._producer.flush()

    async def on_stop(self) -> None:
        """Stop the producer; records that are still unconfirmed will be replayed."""
        try:
            async with asyncio.timeout(self.app.conf.producer_request_timeout):
                await super().on_stop()
        except TimeoutError:
            log.warning("producer stopped with unconfirmed records; they will be replayed")


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """Consumer thread that records the time of the last heartbeat that Kafka answered."""

    heartbeat_at = 0.0

    async def on_start(self) -> None:
        """Start aiokafka's consumer and observe its heartbeats."""
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator  # noqa: SLF001
        beat = coordinator._do_heartbeat  # noqa: SLF001

        async def heartbeat() -> bool:
            alive: bool = await beat()
            if alive:
                self.heartbeat_at = monotonic()
            return alive

        coordinator._do_heartbeat = heartbeat  # noqa: SLF001

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_min_bytes = FETCH_BYTES  # noqa: SLF001 - Faust has no setting for it
        consumer._fetch_max_wait_ms = FETCH_WAIT  # noqa: SLF001
        return consumer

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Count the assignment of partitions as a heartbeat."""
        self.heartbeat_at = monotonic()
        await super().on_partitions_assigned(assigned, generation_id)

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commit offsets. If that fails, they are committed later, or the next owner replays."""
        consumer = self._ensure_consumer()
        assigned = self.assignment()
        wanted = {
            driver.ensure_aiokafka_TP(tp): OffsetAndMetadata(offset, "")
            for tp, offset in offsets.items()
            if tp in assigned
        }
        if not wanted:
            return False
        try:
            await consumer.commit(wanted)
        except KafkaError as error:
            log.warning("commit of offsets failed", error=repr(error))
            return False
        return True


class Consumer(Intake):
    """Consumer that commits confirmed records only.

    Attributes:
        committed_at: Monotonic time of the last commit in seconds, 0 before the first.
    """

    committed_at = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._confirmed: dict[TP, int] = {}
        self._due_since: float | None = None

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def has_session(self) -> bool:
        """Whether the session is valid; until it ends, no other worker gets the partitions."""
        age = monotonic() - self._thread.heartbeat_at
        return bool(age < self.app.conf.broker_session_timeout)

    def confirm(self, message: Message) -> None:
        """Mark a record, and all records before it in its partition, as done.

        A record of an earlier generation moves no offset: another worker may own its partition.
        """
        self._unacked_messages.discard(message)
        message.acked = True
        if message.generation_id == self.app.consumer_generation_id:
            self._confirmed[message.tp] = message.offset + 1
            if self._due_since is None:
                self._due_since = monotonic()
        driver_notify(self._waiting_for_ack)

    def release(self, message: Message) -> None:
        """Give up a record that another worker processes. Its offset is not committed."""
        self._unacked_messages.discard(message)
        message.acked = True
        driver_notify(self._waiting_for_ack)

    def ack(self, message: Message) -> bool:
        """Release an event that a stream skips. Faust calls this method; no offset is confirmed."""
        self.release(message)
        return False

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit the confirmed offsets of revoked partitions; the next owner begins at them."""
        await super().on_partitions_revoked(revoked)
        for tp in revoked:
            self._confirmed.pop(tp, None)

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return (
            tp
            for tp in list(self._confirmed)
            if topics is None or tp in topics or tp.topic in topics
        )

    def _new_offset(self, tp: TP) -> int | None:
        return self._confirmed.get(tp)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Do nothing for offsets without a record, because `confirm` steps over them."""

    async def _commit_offsets(
        self,
        offsets: Mapping[TP, int],
        start_new_transaction: bool = True,  # noqa: ARG002
    ) -> bool:
        """Commit without a flush: everything that was sent for these offsets is confirmed."""
        if not await self._commit(offsets):
            return False
        self._committed_offset.update(offsets)
        self.committed_at = monotonic()
        due = any(offsets.get(tp) != at for tp, at in self._confirmed.items())
        self._due_since = self.committed_at if due else None
        return True

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Do nothing; `agents.kafka.delivery` detects stalled streams instead of Faust."""

    def commit_age(self) -> float:
        """Return the seconds for which confirmed offsets have waited for a commit, or 0."""
        return 0.0 if self._due_since is None else monotonic() - self._due_since

    def lag(self, topics: Collection[str]) -> int:
        """Return the number of unconfirmed records in the assigned partitions of these topics."""
        at = self._committed_offset
        return sum(
            max(0, (self.highwater(tp) or 0) - (self._confirmed.get(tp) or at[tp] or 0))
            for tp in self.assignment()
            if tp.topic in topics
        )


class Transport(driver.Transport):
    """Transport for broker URLs of the form `urltree://host:port`."""

    Consumer = Consumer
    Producer = Producer


def driver_notify(waiter: asyncio.Future[None] | None) -> None:
    """Wake `Consumer.wait_empty`, which waits for the last record in flight."""
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
