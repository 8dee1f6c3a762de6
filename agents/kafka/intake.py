"""Reading from Kafka: each record of a partition once, starting at the committed offset.

    stop_flow        seek to committed      fetch, fetch, …       stop_flow
    ───┼──────────────────────┼────────────────────────────────────────┼───▶
       │ fetched here:        │ fetched here:                          │ dropped, read again
       │ dropped              │ processed in order                     │ after the next seek

Faust resumes its flow before it seeks. It also cuts a batch short when the flow stops, and
continues with the rest of that batch if the flow resumes at once. So record 250 of a partition was
delivered before record 200, was confirmed, and its offset was committed. When the worker then
stopped, 50 records were lost. A fetch that was under way during a seek moved the position once more
after the seek: up to 203 of 5,000 records were lost in tests. Therefore seeks and fetches exclude
each other here, and each fetch notes the number of seeks and stops before it.

If retention has deleted records that were not read, the range of their offsets is delivered as one
message, which becomes a dead letter with the reason `expired`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from functools import cached_property
from typing import Any
from weakref import WeakSet

from aiokafka.errors import CorruptRecordException, KafkaError, OffsetOutOfRangeError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from faust.types.tuples import Message

from agents.kafka.batches.fetching import RETURNED_BYTES
from agents.kafka.batches.unread import UnreadRecord, unreadable_message
from agents.kafka.offsets.progress import Progress
from agents.kafka.unreadable import UnreadableMessage
from agents.settings.topics_file import declared_topics
from agents.telemetry.logs import log
from urltree.page import Reason

_PAUSE = 1.0  # seconds between two requests for offsets that Kafka has not answered
_ROOM_PAUSE = 0.02  # seconds between two checks whether the stage has room for more records


class Intake(driver.Consumer):
    """Consumer that drops records fetched before a seek, or before its flow stopped.

    Attributes:
        waits_for: The answer of Kafka without which the consumer reads nothing; None if it reads.
        progress: How far each partition of the source topics was read and processed.
    """

    waits_for: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: WeakSet[Message] = WeakSet()  # records that were yielded, until they are done
        self.progress = Progress()
        self._position = asyncio.Lock()  # held while the positions of partitions change
        self._moves = 0  # number of seeks and stops so far
        self._is_at_committed = False  # whether a seek to committed offsets followed the last stop
        self._fetched_after = (0, False)  # the two values above when the last fetch began
        self._positions: Mapping[TP, int] = {}  # positions of the reader after the last fetch
        self._expired: list[tuple[TP, int, int]] = []  # ranges that were not delivered yet

    @cached_property
    def _deleting(self) -> frozenset[str]:
        """Topics of which Kafka deletes records by their age.

        In a compacted topic, a missing record was replaced by a later one.
        """
        return frozenset(
            topic.name
            for topic in declared_topics(self.app.settings)
            if "compact" not in topic.config.get("cleanup.policy", "delete")
        )

    def stop_flow(self) -> None:
        """Stop the flow, and discard all records that were fetched but not yet delivered."""
        self._restart()
        self._is_at_committed = False
        super().stop_flow()

    async def seek_to_committed(self) -> Mapping[TP, int | None]:
        """Seek to the committed offsets while no fetch is under way.

        If a partition has no committed offset, aiokafka does not move its position. Records that a
        new group had fetched too early were then never read again (3 of 8 runs of `reset`), so the
        position is set to the beginning here, but only if the coordinator has answered that
        nothing is committed.
        """
        async with self._position:
            assigned = self.assignment()
            sources = {tp for tp in assigned if self._is_source(tp)}
            committed, first = await self._ask(sources)
            self._restart()
            for tp in sources:
                self._begin(tp, committed.get(tp, first[tp]), first[tp])
            await super().seek_wait({tp: max(committed.get(tp, 0), first[tp]) for tp in sources})
            self._is_at_committed = True
            return {tp: committed.get(tp) for tp in assigned}

    async def seek_wait(self, partitions: Mapping[TP, int]) -> None:
        """Seek to these offsets while no fetch is under way."""
        async with self._position:
            await super().seek_wait(partitions)
            self._moves += 1

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Message]]:  # noqa: ASYNC109
        """Yield the records of one fetch, until a seek or stop makes the rest invalid.

        Records of source topics that were fetched before the seek to the committed offsets are
        dropped, because they are fetched again after the seek.
        """
        await self._wait_for_room()
        records, active = await self._wait_next_records(timeout)
        moves, is_at_committed = self._fetched_after
        positions = self._positions
        if records is None or active is None or self.should_stop:
            return
        while self._expired and self._moves == moves:
            tp, first, last = self._expired.pop(0)
            yield tp, self._expired_message(tp, first, last)
        for tp, record in self.scheduler.iterate(records):
            if self._moves != moves or not self.flow_active:
                return
            is_source = self._is_source(tp)
            if is_source and is_at_committed:
                self.progress.deliver(tp, record.offset)
            if tp not in active and tp not in self._buffered_partitions:
                continue
            if is_at_committed or not is_source:
                message = self._to_message(tp, record)
                self._held.add(message)
                yield tp, message
        if is_at_committed and self._moves == moves and self.flow_active:
            self.progress.move({tp: at for tp, at in positions.items() if self._is_source(tp)})

    async def _wait_for_room(self) -> None:
        """Wait while the records that Faust holds are larger than in_flight_bytes and a fetch.

        Faust's queue has a limit of 200 records, and a record may have 20 MB.
        """
        limit = self.app.settings.in_flight_bytes + RETURNED_BYTES
        while self.flow_active and not self.should_stop:
            held = (len(message.value or b"") for message in self._held if not message.acked)
            if sum(held) <= limit:
                return
            await asyncio.sleep(_ROOM_PAUSE)

    def _to_message(self, tp: TP, record: Any) -> Message:
        message = super()._to_message(tp, record)
        if not isinstance(record, UnreadRecord):
            return message
        if not self._is_source(tp):
            raise CorruptRecordException(record.describe())  # a row of a table
        return unreadable_message(message, record)

    async def _getmany(self, **wanted: Any) -> Any:
        async with self._position:
            if not self.flow_active:
                return {}
            self._fetched_after = (self._moves, self._is_at_committed)
            try:
                records = await super()._getmany(**wanted)
            except OffsetOutOfRangeError as error:
                ((tp, at),) = error.args[0].items()
                await self._return_to_log(tp, at)
                self._positions = {}
                return {}
            self._positions = self._thread.positions
            return records

    async def _ask(self, sources: Collection[TP]) -> tuple[Mapping[TP, int], Mapping[TP, int]]:
        """Return the committed and the oldest offsets; repeat the requests until Kafka answers.

        The heartbeats continue meanwhile, and no record is fetched.

        Raises:
            KafkaError: Kafka refuses the request; to repeat it would not help.
        """
        self.waits_for = "waiting for the committed offsets"
        try:
            while True:
                try:
                    committed = await self._thread.committed(sources)
                    return committed, await self._thread.earliest_offsets(*sources)
                except KafkaError as error:
                    if not error.retriable:
                        raise
                    log.warning("Kafka has not told the offsets, asking again", error=repr(error))
                    self.waits_for = f"waiting for the committed offsets: {error!r}"
                await asyncio.sleep(_PAUSE)
        finally:
            self.waits_for = None

    def _restart(self) -> None:
        self._moves += 1
        self._expired.clear()
        self.progress.restart()

    def _begin(self, tp: TP, at: int, first: int) -> None:
        """Note that reading continues at `first`, or at `at` if the log still has that offset."""
        if at < first and tp.topic in self._deleting:
            log.error(
                "retention deleted records before they were read",
                topic=tp.topic,
                partition=tp.partition,
                first=at,
                last=first - 1,
            )
            self._expired.append((tp, at, first - 1))
            self.progress.deliver(tp, first - 1)
        self.progress.move({tp: max(at, first)})

    async def _return_to_log(self, tp: TP, at: int) -> None:
        """Continue at the oldest record, because the log does not contain the offset `at`.

        Retention has overtaken the worker. Or the offset is after the end of the log, because the
        topic was created anew, or because a broker without the last records became the leader.
        """
        first = (await self._thread.earliest_offsets(tp))[tp]
        if first < at:
            log.warning(
                "the log ends before the offset to be read; reading it from its beginning",
                topic=tp.topic,
                partition=tp.partition,
                offset=at,
            )
            self.progress.drop(tp)
            self._committed_offset[tp] = None  # otherwise no smaller offset would be committed
        if self._is_source(tp) and self._is_at_committed:
            self._begin(tp, min(at, first), first)
        await super().seek_wait({tp: first})
        self._read_offset[tp] = min(at, first) or None  # Faust drops messages before this offset

    def _expired_message(self, tp: TP, first: int, last: int) -> UnreadableMessage:
        message = UnreadableMessage(
            tp.topic, tp.partition, last, 0.0, 0, (), None, None, None, tp=tp,
            generation_id=self.app.consumer_generation_id,
        )  # fmt: skip
        message.reason = Reason.EXPIRED
        message.text = (
            f"retention deleted the offsets {first} to {last} before the stage read them, "
            f"at most {last - first + 1} records"
        )
        message.offsets = (first, last)
        return message

    def _is_source(self, tp: TP) -> bool:
        return bool(self.app.topics.acks_enabled_for(tp.topic))
