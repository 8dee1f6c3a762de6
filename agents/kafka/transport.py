"""Faust's transport, mended: what is confirmed, what is committed, who still owns a partition.

Three things of Faust's own transport lose or stall records (measured in issue 3); what it does
to records that are fetched around a rebalance is in `agents.kafka.intake`.

- `Producer.flush` waits for a buffer that a busy agent keeps refilling, and commits wait for it:
  under load no offset is ever committed. Here flush waits for what was queued when it was called.
- `Consumer._new_offset` compares with the wrong offset and commits past an unacked event. Here
  only `confirm` moves an offset, and `agents.kafka.delivery` calls it in the order of the records.
- A worker that was stopped past its session goes on with what it had read, although another one
  owns its partitions. Here `has_session` tells, from the last heartbeat that Kafka answered.
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

from agents.kafka.header_names import tolerate_any_header_name
from agents.kafka.intake import Intake
from agents.telemetry.logs import log
from models.headers import Headers

SCHEME = "urltree"
TRANSPORTS.aliases[SCHEME] = "agents.kafka.transport:Transport"
tolerate_any_header_name()

# Kafka answers a fetch once it has so many bytes, or after so many milliseconds: by Faust's
# defaults a stage gets records one by one, each at the price of a request.
FETCH_BYTES = 128 * 1024
FETCH_WAIT = 100


class Producer(driver.Producer):
    """Confirms each record; waits for no others."""

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
        """Queue a record; the future is done when all replicas have it.

        Goes to aiokafka directly: Faust's `Topic.send` costs 150 µs more (issue 3).

        Raises:
            MessageSizeTooLargeError: larger than the settings allow.
            KafkaError: the queue stayed full for the time of a delivery.
        """
        future: asyncio.Future[RecordMetadata] = await self._ensure_producer().send(
            topic, value, key=key, partition=partition, headers=list(headers)
        )
        return future

    async def flush(self) -> None:
        """Wait for what is queued now, and no longer than a delivery may take."""
        if self._producer is not None:
            async with asyncio.timeout(self.request_timeout):
                await self._producer.flush()

    async def on_stop(self) -> None:
        """Stop; what Kafka does not take in time is replayed after the next start."""
        try:
            async with asyncio.timeout(self.app.conf.producer_request_timeout):
                await super().on_stop()
        except TimeoutError:
            log.warning("stopped with records that Kafka has not confirmed")


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """Remembers when Kafka last said that this worker is a member of its group."""

    heartbeat_at = 0.0

    async def on_start(self) -> None:
        """Start aiokafka's consumer and listen to its heartbeats."""
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
        consumer._fetch_min_bytes = FETCH_BYTES  # noqa: SLF001 - no setting of Faust's
        consumer._fetch_max_wait_ms = FETCH_WAIT  # noqa: SLF001
        return consumer

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Joining a group is a sign of life too."""
        self.heartbeat_at = monotonic()
        await super().on_partitions_assigned(assigned, generation_id)

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commit; what cannot be committed now is committed later, or replayed by another."""
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
            log.warning("offsets are not committed", error=repr(error))
            return False
        return True


class Consumer(Intake):
    """Commits what was confirmed, and nothing else.

    Attributes:
        committed_at: when offsets were last committed, monotonic seconds; 0 before the first.
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
        """Whether Kafka cannot have given this worker's partitions to another yet."""
        age = monotonic() - self._thread.heartbeat_at
        return bool(age < self.app.conf.broker_session_timeout)

    def confirm(self, message: Message) -> None:
        """A record is done, and so are all before it in its partition.

        Of an earlier generation it says nothing: its partition may be another worker's.
        """
        self._unacked_messages.discard(message)
        message.acked = True
        if message.generation_id == self.app.consumer_generation_id:
            self._confirmed[message.tp] = message.offset + 1
            if self._due_since is None:
                self._due_since = monotonic()
        driver_notify(self._waiting_for_ack)

    def release(self, message: Message) -> None:
        """Let go of a record that is not to be processed here; nothing is committed."""
        self._unacked_messages.discard(message)
        message.acked = True
        driver_notify(self._waiting_for_ack)

    def ack(self, message: Message) -> bool:
        """What Faust calls for events that a stream skips: they are not done, only dropped."""
        self.release(message)
        return False

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit what is done, then forget; the next owner begins there."""
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
        """Offsets without record need no ack: `confirm` steps over them."""

    async def _commit_offsets(
        self,
        offsets: Mapping[TP, int],
        start_new_transaction: bool = True,  # noqa: ARG002
    ) -> bool:
        """Commit; all that was sent for these offsets is confirmed, there is no need to flush."""
        if not await self._commit(offsets):
            return False
        self._committed_offset.update(offsets)
        self.committed_at = monotonic()
        due = any(offsets.get(tp) != at for tp, at in self._confirmed.items())
        self._due_since = self.committed_at if due else None
        return True

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Faust's watch over a stalled stream: `agents.kafka.delivery` has one that acts."""

    def commit_age(self) -> float:
        """Seconds for which confirmed offsets have waited for a commit; 0 while none wait."""
        return 0.0 if self._due_since is None else monotonic() - self._due_since

    def lag(self, topics: Collection[str]) -> int:
        """Records of the assigned partitions of these topics that are not confirmed yet."""
        at = self._committed_offset
        return sum(
            max(0, (self.highwater(tp) or 0) - (self._confirmed.get(tp) or at[tp] or 0))
            for tp in self.assignment()
            if tp.topic in topics
        )


class Transport(driver.Transport):
    """`urltree://host:port`, named in the app's `broker`."""

    Consumer = Consumer
    Producer = Producer


def driver_notify(waiter: asyncio.Future[None] | None) -> None:
    """Wake `Consumer.wait_empty`, which waits for the last record in work."""
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
