"""The base of all stages: the loop over records, and how each kind of error is handled.

    record ──▶ process ──▶ sent, stored ──▶ confirmed ──▶ committed
                 │ PageError: the page's fault        ──▶ dead letter, work continues
                 │ KafkaError, RowError, StoreError…  ──▶ the process ends, a replay recovers
                 └ any other error                    ──▶ memory dropped, one retry from the rows;
                                                          second failure: dead letter `internal`

A bad record never stops the records after it, and no record is skipped.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from functools import cached_property
from time import monotonic
from typing import Any

from aiokafka.errors import KafkaError, MessageSizeTooLargeError
from faust.types.tuples import Message

from agents.app import App, make_app, source
from agents.incoming import Screening, is_in_place, origin_of, original_of
from agents.kafka.delivery import Delivery, OnFailure, Work
from agents.kafka.partitions import RoutedKey, route_key
from agents.kafka.session.broker_time import BrokerTime
from agents.kafka.tables.damage import StoreError
from agents.kafka.unreadable import UnreadableMessage
from agents.settings.job import Settings
from agents.settings.topics_file import declared_topics
from agents.telemetry.logs import log
from models.dead_letter import DeadLetter, Record
from models.headers.names import Headers
from models.headers.signature import SIGNED_TOPICS, SignedRecord
from urltree.crawl.decisions.host.host_state import HostStateError
from urltree.crawl.decisions.host.page.host_pages import HostPagesError
from urltree.crawl.decisions.host.page.validators import ValidatorsError
from urltree.crawl.decisions.poll.feed_state import FeedStateError
from urltree.page import PageError, Reason
from urltree.site.row import RowError
from urltree.site.seen import SeenError

# Errors of Kafka or of stored state. They end the process, so that a replay recovers the records.
OURS = (
    *(KafkaError, StoreError, RowError, SeenError, FeedStateError, HostStateError),
    *(HostPagesError, ValidatorsError),
)

_HEARTBEAT_WAIT = 0.1  # seconds between two checks for a heartbeat


class Stage(ABC):
    """The stage of a worker: its Faust app, its agent, and its records in flight.

    Args:
        settings: Settings of the job.
        on_failure: Called when the worker cannot continue; it ends the process.

    Attributes:
        name: Name of the stage, as dead letters and commands show it.
        reads: Names of the topics that the stage reads, without prefix.
        sources: Names of the same topics in Kafka, with prefix.
        partitions: Number of partitions of every topic. topics.yaml declares one number for all,
            and the worker compares it with Kafka at start.
        broker_time: Time of the broker, as the worker's own records show it.
    """

    name: str
    reads: tuple[str, ...]

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        self.settings = settings
        self.fail = on_failure
        # Not from the consumer: for a while after a broker dies, the consumer has no topics.
        self.partitions = declared_topics(settings)[0].partitions
        self.sources = frozenset(map(settings.topic, self.reads))
        self.app: App = make_app(settings, self.name)
        self.app.fail, self.metrics = on_failure, self.app.metrics
        self.broker_time = BrokerTime()
        self._keys = settings.header_keys
        self._screening = Screening(self._keys, self.metrics)
        self.app.agent(source(self.app, *self.reads), name=self.name)(self._agent)
        self.app.on_partitions_revoked.connect(self._on_revoked)

    @cached_property
    def delivery(self) -> Delivery:
        """Records in flight. Created on first use, because it needs the app's event loop."""
        return Delivery(
            self.app.consumer,
            self.fail,
            max_records=self.settings.in_flight,
            max_bytes=self.settings.in_flight_bytes,
        )

    @abstractmethod
    async def process(self, message: Message, origin: str, work: Work) -> None:
        """Process one record.

        Args:
            message: The record as Faust read it.
            origin: Place of the page's first copy, as topic/partition/offset.
            work: The record in flight; it collects the confirmations for which it waits.

        Raises:
            PageError: The record is at fault; it becomes a dead letter.
        """

    def check_place(self, domain: str, message: Message) -> None:
        """Refuse a record whose key is not its domain, or whose partition is not that of the key.

        Raises:
            PageError: with the reason `misplaced`.
        """
        if not is_in_place(message, domain, self.partitions):
            raise PageError(
                Reason.MISPLACED,
                f"the record should have the key {domain} and be in the partition of this key",
            )

    @abstractmethod
    def drop(self, partition: int, domain: str) -> None:
        """Drop a domain from memory; the stage reads it again from its rows."""

    @abstractmethod
    def clear(self) -> None:
        """Drop all domains from memory."""

    async def send(
        self, work: Work, topic: str, to: RoutedKey, value: bytes | None, headers: Headers = ()
    ) -> asyncio.Future[Any]:
        """Send a record as part of the work on an input record.

        Returns:
            A future that is done when Kafka has confirmed the record.

        Raises:
            PageError: with the reason `too-large`.
        """
        future = await self.deliver(topic, to, value, headers)
        work.wait_for(future, len(value or b""))
        return future

    async def deliver(
        self, topic: str, to: RoutedKey, value: bytes | None, headers: Headers = ()
    ) -> asyncio.Future[Any]:
        """Sign the headers of a record, and queue it for Kafka.

        Returns:
            A future that is done when Kafka has confirmed the record.

        Raises:
            PageError: with the reason `too-large`.
        """
        name = self.settings.topic(topic)
        if headers and topic in SIGNED_TOPICS:
            headers = self._keys.sign(SignedRecord(name, to.key, value, headers))
        try:
            future: asyncio.Future[Any] = await self.app.producer.deliver(name, *to, value, headers)
        except MessageSizeTooLargeError as error:
            raise PageError(Reason.TOO_LARGE, f"{topic}: {error}") from error
        future.add_done_callback(self._on_confirmed)
        return future

    def _on_confirmed(self, confirmed: asyncio.Future[Any]) -> None:
        if not confirmed.cancelled() and confirmed.exception() is None:
            self.broker_time.confirm(confirmed.result())

    def key(self, text: str) -> RoutedKey:
        """Return the record key with this text, together with the partition of the key."""
        return route_key(text, self.partitions)

    def check_size(self, topic: str, value: bytes) -> None:
        """Refuse a value that is larger than max_record_bytes, before any row is stored for it.

        Raises:
            PageError: with the reason `too-large`.
        """
        if len(value) > self.settings.max_record_bytes:
            raise PageError(
                Reason.TOO_LARGE,
                f"the record for {topic} has {len(value)} bytes, "
                f"more than max_record_bytes ({self.settings.max_record_bytes})",
            )

    def original(self, work: Work) -> Record:
        """Return the record of a work as its dead letter keeps it."""
        return original_of(work)

    async def dead_letter(self, work: Work, origin: str, reason: Reason, text: str) -> None:
        """Send the original record to the dead-letter topic."""
        message = work.message
        offsets = message.offsets if isinstance(message, UnreadableMessage) else None
        letter = DeadLetter(
            origin, self.name, reason, text, message.topic, self.original(work), offsets
        ).to_record()
        to = self.key(origin)

        async def without_value(error: BaseException) -> None:
            log.error("dead letter too large; sending no value", origin=origin, error=error)
            await self.send(work, "dead-letters", to, None, letter.headers)

        work.refuse = without_value
        self.metrics.dead_letters.labels(reason).inc()
        if offsets is not None:
            self.metrics.lost_offsets.labels(reason).inc(offsets[1] - offsets[0] + 1)
        log.debug("record became a dead letter", origin=origin, reason=str(reason), message=text)
        try:
            await self.send(work, "dead-letters", to, letter.value, letter.headers)
        except PageError as error:
            await without_value(error)

    async def _agent(self, stream: Any) -> None:
        events: AsyncIterator[Any] = stream.noack().events()
        async for event in events:
            await self._take(event.message)

    async def _take(self, message: Message) -> None:
        work = await self.delivery.begin(message)
        if not await self.is_ours(message):
            self.delivery.drop(work)
            return
        work.on_done = self._observe
        self._screening.screen(message)
        origin = origin_of(message)
        if isinstance(message, UnreadableMessage):
            await self.dead_letter(work, origin, message.reason, message.text)
            work.close()
            return

        async def refuse(error: BaseException) -> None:
            await self.dead_letter(work, origin, Reason.TOO_LARGE, str(error))

        work.refuse = refuse
        try:
            await self._try(message, origin, work)
        except Exception as error:  # noqa: BLE001 - Faust would continue with the next record
            self.fail(error)
        else:
            work.close()

    async def _try(self, message: Message, origin: str, work: Work) -> None:
        for tries_left in (1, 0):
            try:
                await self.process(message, origin, work)
            except PageError as error:
                await self.dead_letter(work, origin, error.reason, error.message)
            except OURS:
                raise
            except Exception as error:  # noqa: BLE001 - one bad record never stops another
                self.drop(message.partition, (message.key or b"").decode(errors="replace"))
                log.error(
                    "unexpected error while processing record",
                    origin=origin,
                    tries_left=tries_left,
                    exc_info=error,
                )
                if tries_left:
                    self.metrics.retries.inc()
                    continue
                await self.dead_letter(work, origin, Reason.INTERNAL, repr(error))
            return

    async def is_ours(self, message: Message) -> bool:
        """Return whether this worker still owns the record's partition.

        After a pause that was longer than its session, the worker waits here for an answer of
        Kafka: either a heartbeat succeeds, or a rebalance gives the partition to another worker.
        """
        while message.generation_id == self.app.consumer_generation_id:
            if self.app.consumer.has_session:
                return True
            if self.app.rebalancing or self.app.should_stop:
                return False
            await asyncio.sleep(_HEARTBEAT_WAIT)
        return False

    async def _on_revoked(self, _app: Any, _revoked: Any, **_: Any) -> None:
        self.delivery.clear()
        self.clear()

    def _observe(self, work: Work) -> None:
        self.metrics.seconds.observe(monotonic() - work.since)


MakeStage = Callable[[Settings, OnFailure], Stage]
