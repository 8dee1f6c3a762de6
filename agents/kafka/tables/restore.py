"""Reading changelogs in batches, to restore tables on disk.

Faust passes each record of a changelog through its event queue, which takes 190 µs per record. Here
a consumer of our own reads batches, and each batch is written to RocksDB in one write.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import CorruptRecordException

from agents.kafka.batches.unread import UnreadRecord
from agents.kafka.client import consumer
from agents.settings.job import Settings

# Partitions that are read at the same time. Each of them has at most 4 MiB (`client.FETCH_BYTES`)
# in memory that were fetched and not yet read, unless a single record is larger.
AT_ONCE = 4
BATCH = 2_000  # largest number of records in one write; with rows of 1 KB these are 2 MB


@dataclass(frozen=True)
class Batch:
    """Records of one changelog partition.

    Attributes:
        place: The partition.
        records: Its next records in offset order.
        last: Offset up to which the partition is read, also where an offset has no record.
    """

    place: TopicPartition
    records: list[ConsumerRecord]
    last: int


async def read_batches(
    settings: Settings, ranges: Mapping[TopicPartition, tuple[int, int]]
) -> AsyncIterator[Batch]:
    """Yield the records of changelogs, a few partitions at a time.

    Args:
        settings: Settings of the job.
        ranges: By partition, the first offset, and the offset after the last.

    Raises:
        CorruptRecordException: A record cannot be read.
        NoKafkaError: No broker can be reached.
    """
    waiting = iter(ranges)
    async with consumer(settings) as client:
        while left := set(islice(waiting, AT_ONCE)):
            client.assign(list(left))
            for place in left:
                client.seek(place, ranges[place][0])
            while left:
                found = await client.getmany(*left, timeout_ms=500, max_records=BATCH)
                for place in list(left):
                    end = ranges[place][1]
                    # The position passes offsets without a record: Kafka removes records by
                    # compaction, and the end of a transaction has none.
                    position = await client.position(place)
                    records = [record for record in found.get(place, ()) if record.offset < end]
                    _check(records)
                    if records or position >= end:
                        yield Batch(place, records, min(position, end) - 1)
                    if position >= end:
                        left.remove(place)
                        client.pause(place)
                await asyncio.sleep(0)


def _check(records: Iterable[ConsumerRecord]) -> None:
    """Refuse a record that cannot be read: without its value it would look like a deleted row."""
    for record in records:
        if isinstance(record, UnreadRecord):
            raise CorruptRecordException(record.describe())
