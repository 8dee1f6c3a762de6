"""aiokafka's fetcher with batches that are read in bounded memory, step by step.

aiokafka returns up to 200 records of a partition at once, whatever their size, and unpacks them in
the event loop that also sends heartbeats. Here one call returns 8 MiB of records (at least one),
unpacks at most 4 MiB ahead for each partition, and begins with another partition each time.
"""

from __future__ import annotations

from typing import Any

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.consumer import consumer, fetcher
from aiokafka.errors import KafkaError

from agents.kafka.batches.batch import Batches
from agents.kafka.batches.codecs import check_libraries
from agents.kafka.batches.limits import MIB, Limits
from agents.kafka.batches.unread import UnreadRecord
from agents.settings.job import Settings

RETURNED_BYTES = 8 * MIB
_OVERHEAD = 100  # estimated bytes of a record without key and value


def read_in_bounded_memory(settings: Settings) -> None:
    """Make all consumers of this process read batches as this package does.

    Raises:
        SettingsError: The library of a codec is missing.
    """
    check_libraries()
    limits = Limits.of(settings.max_record_bytes)
    fetcher.MemoryRecords = lambda data: Batches(data, limits)
    fetcher.PartitionRecords = PartitionRecords
    fetcher.FetchResult = FetchResult
    consumer.Fetcher = Fetcher


class Room:
    """Bytes that one call of the consumer may still return."""

    def __init__(self) -> None:
        self.left = RETURNED_BYTES


class PartitionRecords(fetcher.PartitionRecords):
    """Records of one fetch response, some of which may be an `UnreadRecord`."""

    def __init__(
        self, tp: TopicPartition, records: Batches, aborted: Any, position: int, *others: Any
    ) -> None:
        super().__init__(tp, records, aborted, position, *others)
        self.batches = records
        records.position = position
        if tp.topic.endswith("dead-letters"):
            records.limits = records.limits.doubled()

    def _consumer_record(self, tp: TopicPartition, record: Any) -> ConsumerRecord:
        found = super()._consumer_record(tp, record)
        problem = getattr(record, "problem", None)
        if problem is None:
            return found
        first = problem.first
        if first is not None:  # a worker may begin within the range
            first = max(first, self.next_fetch_offset)
        return UnreadRecord.of(found, problem.reason, problem.text, first)


class FetchResult(fetcher.FetchResult):
    """Records of one fetch response, of which one call returns only as many as there is room for.

    Attributes:
        room: Room of the present call; all partitions share it.
    """

    room: Room | None = None
    _partition_records: PartitionRecords | None

    def is_ready(self) -> bool:
        """Unpack some bytes ahead; return whether the next record is known, or the end."""
        records = self._partition_records
        return records is None or records.batches.is_ready()

    def getall(self, max_records: int | None = None) -> list[ConsumerRecord]:
        """Return the next records, as far as they are unpacked."""
        if not self.check_assignment(self._topic_partition) or not self.has_more():
            return []
        room = self.room or Room()
        taken: list[ConsumerRecord] = []
        while room.left > 0 and len(taken) != max_records and self.is_ready():
            record = next(self._partition_records, None)  # type: ignore[arg-type]
            if record is None:
                self._update_position()
                self._partition_records = None
                return taken
            taken.append(record)
            room.left -= _size(record)
        self._update_position()
        return taken


class Fetcher(fetcher.Fetcher):
    """Fetcher that unpacks in small steps, so that no partition and no heartbeat waits for long.

    If the task that sends its requests fails, aiokafka only logs that, and nothing is fetched any
    more. In a test with faults, a worker then stood still for four minutes and said it was ready.
    """

    def _set_error(self, tp: TopicPartition, error: Exception) -> None:
        """Keep an error until it is reported; aiokafka's task fails if there is one already."""
        if tp not in self._records:
            super()._set_error(tp, error)

    async def fetched_records(
        self,
        partitions: list[TopicPartition],
        timeout: float = 0,  # noqa: ASYNC109 - aiokafka's parameter
        max_records: int | None = None,
    ) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Return records that were fetched; empty while a large record is being unpacked.

        Raises:
            KafkaError: The task that sends requests has failed.
        """
        if self._fetch_task.done() and not self._closed:
            raise KafkaError("records are no longer fetched") from self._fetch_task.exception()
        if self._records:
            self._records.move_to_end(next(iter(self._records)))
        room = Room()
        for tp, result in self._records.items():
            if isinstance(result, FetchResult) and (not partitions or tp in partitions):
                result.room = room
                if not result.is_ready():
                    timeout = 0  # the next call continues to unpack
        found: dict[TopicPartition, list[ConsumerRecord]] = await super().fetched_records(
            partitions, timeout, max_records
        )
        return found


def _size(record: ConsumerRecord) -> int:
    """Return the approximate size of a record in memory, in bytes."""
    size = _OVERHEAD + len(record.key or b"") + len(record.value or b"")
    return size + sum(_OVERHEAD + len(value or b"") for _, value in record.headers)
