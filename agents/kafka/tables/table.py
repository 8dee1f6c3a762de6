"""A table whose writes are confirmed: RocksDB on disk, a changelog in Kafka as its truth.

    put ──▶ RocksDB, at once ──▶ changelog ──▶ confirmed ──▶ "this disk holds up to offset n"
                                     └─ future: the event is done only when it is

Faust's table drops that future, writes to the partition of the current event only, and lets any
confirmation move n: when a stopped worker wakes and its late write is confirmed at 500, while
another worker wrote 450 to 499, its disk would claim to hold what it never saw. Here n moves only
by one: 450 to 499 missing, it stays, and recovery reads them when the partition is back.

A deletion takes the other way: out of sight at once, off the disk when its tombstone is confirmed.
A row that was deleted before a kill -9 and whose tombstone was never sent is not there to be
deleted again: the changelog, and the next worker, would have it for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import islice

import faust
from aiokafka.structs import RecordMetadata, TopicPartition
from faust.types import TP

from agents.kafka.tables.store import MARK_SECONDS, Store
from agents.telemetry.logs import log

BATCH = 500  # rows; 2 to 3 µs each (issue 3)


class ConfirmedTable(faust.Table):
    """Bytes under bytes, by partition."""

    def __post_init__(self) -> None:
        """Nothing is known of any partition before its recovery."""
        # offset in the changelog up to which the disk holds everything; None: a gap, see above
        self._held: dict[int, int | None] = {}
        self._generation = 0
        # what is on the disk until its newest tombstone is confirmed
        self._deleting: dict[tuple[int, bytes], object] = {}

    def _new_store(self) -> Store:
        return Store(
            "rocksdb://",
            self.app,
            self,
            table_name=self.name,
            key_type=bytes,
            value_type=bytes,
            key_serializer="raw",
            value_serializer="raw",
            loop=self.loop,
        )

    @property
    def rows(self) -> int:
        """Rows of the assigned partitions, estimated; 0 before the table is opened."""
        return 0 if self._data is None else self._data.rows

    @property
    def bytes_on_disk(self) -> int:
        """Their size on the disk."""
        return 0 if self._data is None else self._data.bytes

    def get(self, partition: int, key: bytes) -> bytes | None:
        """The value under a key, None where there is none."""
        if (partition, key) in self._deleting:
            return None
        value: bytes | None = self.data.get(partition, key)
        return value

    def scan(
        self, partition: int, prefix: bytes, start: bytes = b""
    ) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values of a prefix, in the order of keys, from `start` on; b"" is every key.

        To be read to its end without a pause: an open scan keeps RocksDB from closing when the
        partition goes to another worker.
        """
        for key, value in self.data.scan(partition, prefix, start):
            if (partition, key) not in self._deleting:
                yield key, value

    def scan_batches(self, partition: int, prefix: bytes) -> Iterator[list[tuple[bytes, bytes]]]:
        """A scan in lists of at most 500 rows; between two of them no scan is open.

        Who lets others have their turn between two asks first whether the partition is still its.
        """
        start = prefix
        while page := list(islice(self.scan(partition, prefix, start), BATCH)):
            yield page
            start = page[-1][0] + b"\0"  # the least key beyond the last

    async def put(self, partition: int, key: bytes, value: bytes) -> asyncio.Future[RecordMetadata]:
        """Put a value under a key; the future is done when Kafka has it."""
        self._deleting.pop((partition, key), None)
        self.data.put(partition, key, value)
        future = await self._deliver(partition, key, value)
        future.add_done_callback(partial(self._on_confirmed, self._generation))
        return future

    async def delete(self, partition: int, key: bytes) -> asyncio.Future[RecordMetadata]:
        """Delete what is under a key; the future is done when Kafka has the tombstone."""
        deletion = self._deleting[partition, key] = object()
        future = await self._deliver(partition, key, None)
        future.add_done_callback(partial(self._on_deleted, partition, key, deletion))
        future.add_done_callback(partial(self._on_confirmed, self._generation))
        return future

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """From now on no earlier write says anything about this disk."""
        self._generation += 1
        self._held.clear()
        self._deleting.clear()
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        """The disk holds what was read; confirmations move the offset on from there."""
        recovery = self.app.tables.recovery
        recovery.flush_buffers()
        for tp in active_tps:
            # what was read, never the highwater: after a second rebalance that is another's, or 0
            read = recovery.active_offsets.get(tp)
            self._hold(tp, -1 if read is None else read)
        await super().on_recovery_completed(active_tps, standby_tps)

    async def _deliver(
        self, partition: int, key: bytes, value: bytes | None
    ) -> asyncio.Future[RecordMetadata]:
        confirmed: asyncio.Future[RecordMetadata] = await self.app.producer.deliver(
            self.changelog_topic_name, partition, key, value
        )
        return confirmed

    def _on_deleted(
        self, partition: int, key: bytes, deletion: object, future: asyncio.Future[RecordMetadata]
    ) -> None:
        if self._deleting.get((partition, key)) is not deletion:
            return  # put or deleted again since, or the partition may be another's
        if not future.cancelled() and future.exception() is None:
            del self._deleting[partition, key]
            self.data.put(partition, key, None)

    def _on_confirmed(self, generation: int, future: asyncio.Future[RecordMetadata]) -> None:
        if generation != self._generation or future.cancelled() or future.exception():
            return
        at = future.result()
        held = self._held.get(at.partition)
        if held is None:
            return
        if at.offset == held + 1:
            self._hold(TopicPartition(at.topic, at.partition), at.offset)
        else:
            log.warning("another wrote to this changelog", table=self.name, at=at.offset, held=held)
            self._held[at.partition] = None

    def _hold(self, tp: TP, offset: int) -> None:
        self._held[tp.partition] = offset
        if offset >= 0:
            self.data.set_persisted_offset(tp, offset)

    @faust.Service.timer(MARK_SECONDS)
    async def _mark(self) -> None:
        self.data.mark()


def row_key(domain: str, document_id: bytes) -> bytes:
    """The key of a document's row in every table; `row_prefix` is where its domain begins."""
    return row_prefix(domain) + document_id


def row_prefix(domain: str) -> bytes:
    """What the keys of a domain begin with: no domain contains a NUL."""
    return domain.encode() + b"\0"


def row_id(key: bytes) -> bytes:
    """The 16 bytes of a document's id."""
    return key[-16:]
