"""A table on disk: one small RocksDB per partition, which is wiped if it cannot be trusted.

Each partition has a marker file that the worker touches regularly while it owns the partition. A
deleted row leaves a tombstone in the changelog, and Kafka removes the tombstone after a time. A
RocksDB that was unused for longer would never get the tombstone, and the row would reappear. So if
the marker is too old, the partition is restored from the changelog.

The same happens if files are damaged (`agents.kafka.tables.damage`). RocksDB notices most damage
when it opens a database. A flipped bit in a block is noticed only when the block is read: then
the worker leaves a second marker file and ends, and its next start wipes the partition. If the
file MANIFEST, the list of table files, was cut between two entries, RocksDB opens the database
without the newest table files: the stored offset was 2,999, but 2,500 rows were missing. So the
first marker file contains the size and the checksum of MANIFEST, which only grows.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from aiokafka import ConsumerRecord
from faust.stores import rocksdb
from faust.types import TP
from rocksdict import ReadOptions, WriteBatch

from agents.kafka.tables.damage import (
    DamageError,
    DiskError,
    StoreError,
    is_damage,
    is_locked,
    is_refused,
)
from agents.telemetry.logs import log

MARK_SECONDS = 60.0  # time between two touches of a marker file
DAY = 86_400.0

_LOCK_SECONDS = 30.0  # time to wait until the earlier owner of a database has closed it
_LOCK_PAUSE = 0.5


class Store(rocksdb.Store):
    """RocksDB store with bounded caches.

    Faust's defaults are 2 GiB of block cache and 192 MiB of write buffers per partition.
    """

    def __init__(self, url: str, app: Any, table: Any, **kwargs: Any) -> None:
        options = {
            "driver": "rocksdict",
            "block_cache_size": app.settings.block_cache_bytes,
            "write_buffer_size": 8 << 20,
            "target_file_size_base": 16 << 20,
        }
        self.max_age = app.settings.disk_days * DAY
        super().__init__(url, app, table, **{**kwargs, "options": options})

    def get(self, partition: int, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""
        try:
            value: bytes | None = self._db_for_partition(partition).get(key)
        except Exception as error:
            raise self._failed("read from", partition, error) from error
        return value

    def put(self, partition: int, key: bytes, value: bytes | None) -> None:
        """Set the value of a key; None deletes it."""
        try:
            db = self._db_for_partition(partition)
            if value is None:
                db.delete(key)
            else:
                db.put(key, value)
        except Exception as error:
            raise self._failed("write to", partition, error) from error

    def compact(self, partition: int, start: bytes, end: bytes) -> None:
        """Compact the files with keys of a range, so that they contain no deleted value of it."""
        try:
            self._db_for_partition(partition).compact_range(start, end)
        except Exception as error:
            raise StoreError(f"RocksDB cannot compact partition {partition}: {error}") from error

    def scan(
        self, partition: int, prefix: bytes, start: bytes = b""
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys with a prefix and their values in key order, from `start` on.

        At a damaged block RocksDB's iterator ends as if there were no more rows, and so does
        rocksdict's `items`: 758 of 6,300 rows were missing without an error. So the status of the
        iterator is checked. Both ways take 0.6 µs per row.
        """
        options = ReadOptions()
        if prefix:
            options.set_iterate_upper_bound(prefix[:-1] + bytes([prefix[-1] + 1]))
        try:
            rows = self._db_for_partition(partition).iter(options)
            rows.seek(max(prefix, start))
            while rows.valid():
                key = rows.key()
                if key != self.offset_key:
                    yield key, rows.value()
                rows.next()
            rows.status()
        except Exception as error:
            raise self._failed("scan", partition, error) from error

    def persisted_offset(self, tp: TP) -> int | None:
        """Return the changelog offset up to which the disk is complete, or None."""
        offset = self.get(tp.partition, self.offset_key)
        return None if offset is None else int(offset)

    def set_persisted_offset(self, tp: TP, offset: int) -> None:
        """Store the changelog offset up to which the disk is complete."""
        self.put(tp.partition, self.offset_key, str(offset).encode())

    def restore(self, partition: int, records: Iterable[ConsumerRecord], offset: int) -> None:
        """Write records of the changelog, and the offset that the disk then has, in one write."""
        batch = WriteBatch(raw_mode=True)
        for record in records:
            if record.value is None:
                batch.delete(record.key)
            else:
                batch.put(record.key, record.value)
        batch.put(self.offset_key, str(offset).encode())
        try:
            self._db_for_partition(partition).write(batch)
        except Exception as error:
            raise self._failed("write to", partition, error) from error

    def is_open(self, partition: int) -> bool:
        """Return whether this worker has the partition open."""
        return partition in self._dbs

    @property
    def rows(self) -> int:
        """Estimated number of rows in the open partitions; RocksDB may count a recent key twice."""
        return sum(
            db.property_int_value("rocksdb.estimate-num-keys") or 0 for db in self._dbs.values()
        )

    @property
    def bytes(self) -> int:
        """Size of the open partitions on disk: table files, and the log of unflushed writes.

        RocksDB's own counters are used (2 to 15 µs per partition). The size of the log equals the
        size of the memtables that it protects.
        """
        return sum(
            db.property_int_value(f"rocksdb.{name}") or 0
            for db in self._dbs.values()
            for name in ("total-sst-files-size", "cur-size-all-mem-tables")
        )

    def mark(self) -> None:
        """Touch the marker files of the open partitions."""
        for partition in self._dbs:
            self._mark(partition)

    def revoke_partitions(self, table: Any, tps: set[Any]) -> None:
        """Close partitions that move to another worker."""
        self.mark()
        super().revoke_partitions(table, tps)

    def wipe(self, partition: int, reason: str, text: str) -> None:
        """Delete the files of a partition, count that and log it.

        Args:
            partition: The partition, which is restored from the changelog afterwards.
            reason: Label of the metric: `damaged`, `unused` or `ahead`.
            text: What is wrong with the files, for the log.
        """
        log.warning(
            "wiped a partition of a table on disk; restoring it from the changelog",
            table=self.table_name,
            partition=partition,
            problem=text,
        )
        self.app.metrics.tables_wiped.labels(reason).inc()
        self._dbs.pop(partition, None)
        shutil.rmtree(self.partition_path(partition), ignore_errors=True)
        self._path(partition, "in-use").unlink(missing_ok=True)
        self._path(partition, "damaged").unlink(missing_ok=True)  # last: a crash wipes again

    def _open_for_partition(self, partition: int) -> Any:
        path = self.partition_path(partition)
        try:
            if self._path(partition, "damaged").exists():
                self.wipe(partition, "damaged", "a read or write had found damaged files")
            elif path.exists() and not self._is_fresh(self._path(partition, "in-use")):
                self.wipe(partition, "unused", "it was unused for disk_days")
            elif path.exists() and not self._is_whole(path, self._path(partition, "in-use")):
                self.wipe(partition, "damaged", "its MANIFEST is not the one of its last use")
            try:
                db = super()._open_for_partition(partition)
            except Exception as error:
                if not is_damage(error):
                    raise
                self.wipe(partition, "damaged", str(error))
                db = super()._open_for_partition(partition)
        except Exception as error:
            raise self._failed("open", partition, error) from error
        self._mark(partition)
        return db

    async def _try_open_db_for_partition(
        self,
        partition: int,
        max_retries: int = int(_LOCK_SECONDS / _LOCK_PAUSE),
        retry_delay: float = _LOCK_PAUSE,
        generation_id: int = 0,
    ) -> Any:
        """Open a partition, and wait while its earlier owner has it open.

        Faust waits for every error whose text contains "lock", such as a damaged block.
        """
        for _ in range(max_retries):
            try:
                return self._db_for_partition(partition)
            except StoreError as error:
                if not is_locked(error):
                    raise
            if generation_id != self.app.consumer_generation_id:
                return None
            await asyncio.sleep(retry_delay)
        return self._db_for_partition(partition)

    def _failed(self, verb: str, partition: int, error: Exception) -> StoreError:
        """Return the error to raise; leave a marker file if files are damaged."""
        if isinstance(error, StoreError):
            return error
        path = self.partition_path(partition)
        if is_refused(error):
            return DiskError(
                f"the disk refuses to {verb} {path}, check its space, mount and permissions: "
                f"{error}"
            )
        text = f"RocksDB cannot {verb} {path}: {error}"
        if not is_damage(error):
            return StoreError(text)
        with suppress(OSError):
            self._path(partition, "damaged").touch()
        return DamageError(f"{text}; the next start restores this partition from the changelog")

    def _mark(self, partition: int) -> None:
        path, mark = self.partition_path(partition), self._path(partition, "in-use")
        new = self._path(partition, "in-use.new")
        try:
            manifest = path / (path / "CURRENT").read_text().strip()
            content = manifest.read_bytes()
            new.write_text(f"{manifest.name} {len(content)} {crc32(content)}")
            new.replace(mark)
        except OSError as error:
            raise self._failed("mark", partition, error) from error

    def _is_whole(self, path: Path, mark: Path) -> bool:
        """Return whether MANIFEST begins as it was when the marker file was written."""
        written = mark.read_text(errors="replace").split()
        if not written:
            return True  # an earlier release wrote an empty file
        try:
            name, size, checksum = written[0], int(written[1]), int(written[2])
            content = (path / name).read_bytes()[:size]
        except FileNotFoundError:
            return True  # RocksDB replaced it; if not, then it cannot open the database
        except (IndexError, ValueError):
            return False
        return (len(content), crc32(content)) == (size, checksum)

    def _is_fresh(self, mark: Path) -> bool:
        """Return whether a marker file was touched lately; a time in the future is not trusted."""
        try:
            return bool(-DAY < time.time() - mark.stat().st_mtime < self.max_age)
        except FileNotFoundError:
            return False

    def _path(self, partition: int, ending: str) -> Path:
        path = self.partition_path(partition)
        return Path(path.with_name(f"{path.name}.{ending}"))
