"""A table on disk: one small RocksDB per partition, which is wiped if it was unused for too long.

A deleted row leaves a tombstone in the changelog, and Kafka removes the tombstone after a time. A
RocksDB that was unused for longer would never get the tombstone, and the row would reappear. So
each partition has a marker file that the worker touches regularly while it owns the partition. If
the marker is too old, the partition is restored from the changelog.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faust.stores import rocksdb
from rocksdict import ReadOptions

from agents.telemetry.logs import log

MARK_SECONDS = 60.0  # time between two touches of a marker file
DAY = 86_400.0


class StoreError(Exception):
    """RocksDB failed. No page is at fault; the worker ends, and recovers after a restart."""


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
            raise StoreError(f"RocksDB cannot read from partition {partition}: {error}") from error
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
            raise StoreError(f"RocksDB cannot write to partition {partition}: {error}") from error

    def scan(
        self, partition: int, prefix: bytes, start: bytes = b""
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys with a prefix and their values in key order, from `start` on."""
        options = ReadOptions()
        if prefix:
            options.set_iterate_upper_bound(prefix[:-1] + bytes([prefix[-1] + 1]))
        try:
            items = self._db_for_partition(partition).items(
                from_key=max(prefix, start) or None, read_opt=options
            )
            for key, value in items:
                if key != self.offset_key:
                    yield key, value
        except Exception as error:
            raise StoreError(f"RocksDB cannot scan partition {partition}: {error}") from error

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
            self._mark_path(partition).touch()

    def revoke_partitions(self, table: Any, tps: set[Any]) -> None:
        """Close partitions that move to another worker."""
        self.mark()
        super().revoke_partitions(table, tps)

    def wipe(self, partition: int) -> None:
        """Delete the files of a partition."""
        self._dbs.pop(partition, None)
        shutil.rmtree(self.partition_path(partition), ignore_errors=True)
        self._mark_path(partition).unlink(missing_ok=True)

    def _open_for_partition(self, partition: int) -> Any:
        path, mark = self.partition_path(partition), self._mark_path(partition)
        if path.exists() and not (mark.exists() and self._is_fresh(mark)):
            log.warning(
                "table on disk was unused for disk_days; wiped it, restoring it from the changelog",
                path=str(path),
            )
            self.wipe(partition)
        db = super()._open_for_partition(partition)
        mark.touch()
        return db

    def _is_fresh(self, mark: Path) -> bool:
        return bool(time.time() - mark.stat().st_mtime < self.max_age)

    def _mark_path(self, partition: int) -> Path:
        path = self.partition_path(partition)
        return Path(path.with_name(f"{path.name}.in-use"))
