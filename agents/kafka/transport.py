"""Faust's transport with four fixes: confirmation, commits, ownership of partitions, transactions.

Faust's own transport loses or stalls records in three ways, and it reads aborted records.
(`agents.kafka.intake` handles the records that are fetched around a rebalance.)

- `Producer.flush` waits until a buffer is empty, but a busy agent keeps refilling the buffer. A
  commit waits for the flush, so under load no offset is ever committed. Here flush waits only
  for the records that were queued when it was called.
- `Consumer._new_offset` compares with the wrong offset and commits past an unacknowledged event.
  Here only `confirm` moves an offset, and `agents.kafka.delivery` calls it in record order.
- A worker that was stopped for longer than its session continues with the records it has read,
  although another worker owns their partitions. Here `has_session` detects this by the time of
  the last heartbeat that Kafka answered.
- Faust's consumer reads the records of aborted and open transactions. Here it reads committed
  records only, and the position of the reader is committed when nothing is in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from time import monotonic
from typing import Any

from aiokafka.consumer.fetcher import OffsetResetStrategy
from aiokafka.errors import KafkaError, NoOffsetForPartitionError, OffsetOutOfRangeError
from aiokafka.structs import OffsetAndMetadata, RecordMetadata
from faust.transport.drivers import TRANSPORTS
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from faust.types.tuples import Message
from mode import Service

from agents.kafka.intake import Intake
from agents.kafka.offsets.answers import refuse_answers_with_errors
from agents.kafka.offsets.transactions import OpenTransactions, high_watermarks
from agents.kafka.refusal import Denied
from agents.kafka.session.instance import ReplacedError
from agents.telemetry.logs import log
from models.headers.names import Headers

SCHEME = "urltree"
TRANSPORTS.aliases[SCHEME] = "agents.kafka.transport:Transport"
refuse_answers_with_errors()

# Kafka answers a fetch when it has this many bytes, or after this many milliseconds. With Faust's
# defaults a stage would receive records one by one, with one request per record.
FETCH_BYTES = 128 * 1024
FETCH_WAIT = 100
_WATCH_SECONDS = 1.0  # time between two looks for open transactions


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
    """Consumer thread that reads committed records only, and observes heartbeats and positions.

    Attributes:
        heartbeat_at: Monotonic time of the last heartbeat that Kafka answered, in seconds.
        positions: Positions of the reader when the last fetch returned. All records before them
            were returned by that fetch or an earlier one.
    """

    heartbeat_at = 0.0
    positions: Mapping[TP, int] = {}

    async def on_start(self) -> None:
        """Start aiokafka's consumer, and observe heartbeats, missing rights and its instance id.

        aiokafka keeps an error of a missing right until somebody calls its `getmany`, which Faust
        never does: a worker without Read on its group waited for ever and logged nothing.
        """
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator  # noqa: SLF001
        report = coordinator._push_error_to_user  # noqa: SLF001

        def crash_if_denied(error: BaseException) -> Any:
            if isinstance(error, Denied):
                asyncio.run_coroutine_threadsafe(self.app.crash(error), self.app.loop)
            return report(error)

        coordinator._push_error_to_user = crash_if_denied  # noqa: SLF001
        beat, close = coordinator._do_heartbeat, coordinator.close  # noqa: SLF001

        async def heartbeat() -> bool:
            alive: bool = await beat()
            if alive:
                self._answered()
            return alive

        async def close_session() -> None:
            await close()
            self.app.contact.is_ended = True

        coordinator._do_heartbeat, coordinator.close = heartbeat, close_session  # noqa: SLF001
        if self.app.instance is not None:
            self.app.instance.guard(coordinator, self._on_replaced)

    def _answered(self) -> None:
        self.heartbeat_at = monotonic()
        self.app.contact.answered()

    def _on_replaced(self, error: ReplacedError) -> None:
        self.heartbeat_at = 0.0  # another worker has the partitions: process no record
        self.parent_loop.call_soon_threadsafe(self.app.fail, error)

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_min_bytes = FETCH_BYTES  # noqa: SLF001 - Faust has no setting for it
        consumer._fetch_max_wait_ms = FETCH_WAIT  # noqa: SLF001
        consumer._isolation_level = "read_committed"  # noqa: SLF001 - Faust: with exactly_once only
        # An offset that the log does not contain is an error, which `Intake` handles. With
        # "earliest", aiokafka would skip the records silently.
        consumer._auto_offset_reset = "none"  # noqa: SLF001
        return consumer

    async def committed(self, partitions: Iterable[TP]) -> Mapping[TP, int]:
        """Return the committed offsets of the partitions that have one, by one request.

        Raises:
            KafkaError: Kafka has not told the offsets.
        """
        return await self.call_thread(self._committed, list(partitions))  # type: ignore[no-any-return]

    async def _committed(self, partitions: list[TP]) -> Mapping[TP, int]:
        if not partitions:
            return {}
        coordinator = self._ensure_consumer()._coordinator  # noqa: SLF001
        await coordinator.ensure_coordinator_known()
        # not fetch_committed_offsets, which would hide the errors that it repeats the request for
        found = await coordinator._do_fetch_commit_offsets(partitions)  # noqa: SLF001
        return {tp: at.offset for tp, at in found.items()}

    async def _fetch_records(
        self, consumer: Any, active_partitions: set[TP], **limits: Any
    ) -> Mapping[TP, Any]:
        """Fetch records, and note the positions after the fetch.

        Raises:
            OffsetOutOfRangeError: The log does not contain the position of a partition.
        """
        # A fetch that fails tells no positions. Those of the fetch before may be from before a
        # seek; once they were committed, and a kill would have lost the records before them.
        self.positions = {}
        assignment = consumer._subscription.subscription.assignment  # noqa: SLF001
        try:
            records: Mapping[TP, Any] = await super()._fetch_records(
                consumer, active_partitions, **limits
            )
        except NoOffsetForPartitionError as error:
            # aiokafka asked for the position of a partition before Faust has set it.
            state = assignment.state_value(error.args[0])
            if state is not None and not state.has_valid_position:
                state.await_reset(OffsetResetStrategy.EARLIEST)
            return {}
        except OffsetOutOfRangeError as error:
            ((tp, at),) = error.args[0].items()
            state = assignment.state_value(tp)
            if state is not None and state.has_valid_position and state.position == at:
                raise
            return {}  # a seek has moved the position since
        self.positions = {
            tp: state.position for tp, state in self._states().items() if state.has_valid_position
        }
        return records

    async def _highwaters(self, partitions: list[TP]) -> Mapping[TP, int]:
        """Return the ends of the partitions, open transactions included.

        Recovery must not end at a last stable offset: rows of our own may follow it.
        """
        return await high_watermarks(self._ensure_consumer(), partitions)

    def ends(self) -> dict[TP, tuple[int, int]]:
        """Return the last stable offset and the high watermark of partitions that were fetched."""
        return {
            tp: (state.lso, state.highwater)
            for tp, state in self._states().items()
            if state.highwater is not None and (state.lso or -1) >= 0
        }

    def _states(self) -> dict[TP, Any]:
        """Return aiokafka's states of the assigned partitions."""
        subscription = self._ensure_consumer()._subscription.subscription  # noqa: SLF001
        assignment = None if subscription is None else subscription.assignment
        if assignment is None:
            return {}
        return {tp: assignment.state_value(tp) for tp in driver.ensure_TPset(assignment.tps)}

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Count the assignment of partitions as a heartbeat."""
        self._answered()
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
        self._due_since: float | None = None
        self._transactions = OpenTransactions()

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
            self.progress.confirm(message.tp, message.offset)
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
            self.progress.drop(tp)

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return (
            tp
            for tp in self.progress.partitions()
            if topics is None or tp in topics or tp.topic in topics
        )

    def _new_offset(self, tp: TP) -> int | None:
        return self.progress.done(tp)

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
        at = self._committed_offset
        due = any((at[tp] or 0) < offset for tp, offset in self.progress.confirmed.items())
        self._due_since = self.committed_at if due else None
        return True

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Do nothing; `agents.kafka.delivery` detects stalled streams instead of Faust."""

    def commit_age(self) -> float:
        """Return the seconds for which confirmed offsets have waited for a commit, or 0."""
        return 0.0 if self._due_since is None else monotonic() - self._due_since

    def lag(self, topics: Collection[str]) -> int:
        """Return the number of offsets of these topics' assigned partitions that are not done."""
        at = self._committed_offset
        return sum(
            max(0, (self.highwater(tp) or 0) - (self.progress.done(tp) or at[tp] or 0))
            for tp in self.assignment()
            if tp.topic in topics
        )

    def open_transactions(self) -> dict[TP, float]:
        """Return the seconds for which a transaction has blocked each assigned partition."""
        now = monotonic()
        return {tp: self._transactions.age(tp, now) for tp in self.assignment()}

    @Service.timer(_WATCH_SECONDS)
    async def _watch_transactions(self) -> None:
        """Observe the partitions that are read: changelogs are read during recovery only."""
        is_read = self.app.topics.acks_enabled_for
        self._transactions.observe(
            {
                tp: ends
                for tp, ends in self._thread.ends().items()
                if self.app.in_recovery or is_read(tp.topic)
            },
            monotonic(),
        )


class Transport(driver.Transport):
    """Transport for broker URLs of the form `urltree://host:port`."""

    Consumer = Consumer
    Producer = Producer


def driver_notify(waiter: asyncio.Future[None] | None) -> None:
    """Wake `Consumer.wait_empty`, which waits for the last record in flight."""
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
