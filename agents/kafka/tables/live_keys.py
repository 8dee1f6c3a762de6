"""The live keys of a compacted topic: keys whose last record is not a tombstone.

The live keys of a partition are known only when its end was read, and there may be millions. With
1,000,000 keys in memory, a command needed 576 MiB instead of 72 MiB. So the keys are collected in a
SQLite file, one partition at a time. A key of 35 bytes takes 45 bytes on disk, and SQLite's cache
takes 2 MB of memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.kafka.client import full_ranges, read_records, refuse_open_transactions

_WRITTEN = "INSERT OR IGNORE INTO live VALUES (?)"
_DELETED = "DELETE FROM live WHERE key = ?"


async def live_keys(
    client: AIOKafkaConsumer, places: Iterable[TopicPartition]
) -> AsyncGenerator[tuple[TopicPartition, bytes], None]:
    """Yield the live keys of these partitions, in byte order within each partition.

    Raises:
        SettingsError: An open transaction hides records.
    """
    places = list(places)
    await refuse_open_transactions(client, places)
    for place in places:
        with TemporaryDirectory() as folder, closing(_open_table(Path(folder, "keys"))) as live:
            async for record in read_records(client, await full_ranges(client, [place])):
                live.execute(_DELETED if record.value is None else _WRITTEN, (record.key,))
            for (key,) in live.execute("SELECT key FROM live"):
                yield place, key


def _open_table(path: Path) -> sqlite3.Connection:
    """Open a temporary table of keys. Its transaction is never committed: the file is not kept."""
    live = sqlite3.connect(path)
    live.execute("PRAGMA journal_mode = OFF")
    live.execute("CREATE TABLE live (key BLOB PRIMARY KEY) WITHOUT ROWID")
    return live
