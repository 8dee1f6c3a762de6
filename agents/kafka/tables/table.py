"""A table with confirmed writes: RocksDB on disk, and its changelog topic in Kafka.

    put ──▶ RocksDB, at once ──▶ changelog ──▶ confirmed ──▶ "the disk is complete up to offset n"
                                     └─ future: the event is done only when this future is

The changelog is the source of truth. Faust's table drops that future, writes only to the partition
of the current event, and lets any confirmation move n. Suppose that a worker was suspended, and
that another worker wrote offsets 450 to 499 in the meantime. The first worker wakes, and its late
write is confirmed at offset 500: its disk would claim to contain 50 rows that it never received.
Here n moves only in steps of one. If 450 to 499 are missing, n stays, and recovery reads these
offsets when the partition returns to this worker.

A deletion works in the opposite order: the row is hidden at once, and leaves the disk when its
tombstone is confirmed. Otherwise a kill -9 between the two could lose the tombstone: the row would
no longer be on disk to be deleted again, but would stay in the changelog forever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import faust
from aiokafka.structs import RecordMetadata, TopicPartition
from faust.types import TP

from agents.kafka.tables.damage import StoreError
from agents.kafka.tables.store import MARK_SECONDS, Store
from agents.telemetry.logs import log

Confirmed = asyncio.Future[RecordMetadata]

BATCH = 500  # rows per batch of a scan; a row takes 2 to 3 µs


class ConfirmedTable(faust.Table):
    """Faust table of byte keys and byte values, addressed by partition."""

    def __post_init__(self) -> None:
        """Initialise the table without partitions; recovery adds them."""
        # By partition, the changelog offset up to which the disk is complete; None after a gap.
        self._complete_to: dict[int, int | None] = {}
        self._generation = 0
        # Hidden rows that stay on disk until their newest tombstone is confirmed.
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
        """Estimated number of rows of the assigned partitions; 0 before the table is open."""
        return 0 if self._data is None else self._data.rows

    @property
    def bytes_on_disk(self) -> int:
        """Size on disk of the assigned partitions, in bytes."""
        return 0 if self._data is None else self._data.bytes

    def get(self, partition: int, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""
        if (partition, key) in self._deleting:
            return None
        value: bytes | None = self.data.get(partition, key)
        return value

    def scan(
        self, partition: int, prefix: bytes, start: bytes = b""
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys with a prefix and their values in key order, from `start` on.

        Read the iterator to its end without awaiting: while a scan is open, RocksDB cannot be
        closed when the partition moves to another worker.
        """
        for key, value in self.data.scan(partition, prefix, start):
            if (partition, key) not in self._deleting:
                yield key, value

    def scan_batches(self, partition: int, prefix: bytes) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield a scan as lists of at most `BATCH` rows; between two lists no scan is open.

        A caller that awaits between two lists must first check that it still owns the partition.
        """
        start = prefix
        while batch := list(islice(self.scan(partition, prefix, start), BATCH)):
            yield batch
            start = batch[-1][0] + b"\0"  # the smallest key after the last one

    async def put(self, partition: int, key: bytes, value: bytes) -> asyncio.Future[RecordMetadata]:
        """Set the value of a key; return a future that is done when Kafka has confirmed it."""
        self._deleting.pop((partition, key), None)
        self.data.put(partition, key, value)
        future = await self._deliver(partition, key, value)
        future.add_done_callback(partial(self._on_confirmed, self._generation))
        return future

    async def delete(self, partition: int, key: bytes) -> asyncio.Future[RecordMetadata]:
        """Delete a key; the returned future is done when Kafka has confirmed the tombstone."""
        deletion = self._deleting[partition, key] = object()
        future = await self._deliver(partition, key, None)
        future.add_done_callback(partial(self._on_deleted, partition, key, deletion))
        future.add_done_callback(partial(self._on_confirmed, self._generation))
        return future

    def compact(self, partition: int, start: bytes, end: bytes) -> None:
        """Remove the deleted rows of a range of keys from the files of RocksDB."""
        self.data.compact(partition, start, end)

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Ignore confirmations that arrive after the rebalance for writes made before it."""
        self._generation += 1
        self._complete_to.clear()
        self._deleting.clear()
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        """Set the offset up to which each disk is complete, as recovery has read it."""
        for tp in active_tps:
            # Use the offset that was read: after a second rebalance the highwater may be 0 or old.
            read = self.app.tables.recovery.active_offsets.get(tp)
            self._set_complete(tp, -1 if read is None else read)
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
            return  # since then the row was written or deleted again, or its partition has moved
        if not future.cancelled() and future.exception() is None:
            del self._deleting[partition, key]
            self._write(lambda: self.data.put(partition, key, None))

    def _on_confirmed(self, generation: int, future: asyncio.Future[RecordMetadata]) -> None:
        if generation != self._generation or future.cancelled() or future.exception():
            return
        at = future.result()
        complete_to = self._complete_to.get(at.partition)
        if complete_to is None:
            return
        if at.offset == complete_to + 1:
            self._set_complete(TopicPartition(at.topic, at.partition), at.offset)
        else:
            log.warning(
                "another worker wrote to this changelog partition",
                table=self.name,
                partition=at.partition,
                offset=at.offset,
                expected=complete_to + 1,
            )
            self._complete_to[at.partition] = None

    def _set_complete(self, tp: TP, offset: int) -> None:
        self._complete_to[tp.partition] = offset
        if offset >= 0:
            self._write(lambda: self.data.set_persisted_offset(tp, offset))

    def _write(self, write: Callable[[], None]) -> None:
        """Write to the disk in a callback, where asyncio would only log an error."""
        try:
            write()
        except StoreError as error:
            self.app.fail(error)

    @faust.Service.timer(MARK_SECONDS)
    async def _mark(self) -> None:
        self.data.mark()


def row_key(domain: str, document_id: bytes) -> bytes:
    """Return the key of a document's row, which is the same in every table."""
    return row_prefix(domain) + document_id


def row_prefix(domain: str) -> bytes:
    """Return the key prefix of a domain's rows: the domain and NUL, which no domain contains."""
    return domain.encode() + b"\0"


def row_id(key: bytes) -> bytes:
    """Return the document id at the end of a row's key: 16 bytes."""
    return key[-16:]
