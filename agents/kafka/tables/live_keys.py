"""The rows that compacted topics still have: keys whose last record is no tombstone.

Only the end of a partition tells which keys are left, and they may be millions: 1,000,000 in memory
made a command of 72 MiB one of 576. So they wait in a file of SQLite, a partition at a time: 45
bytes on disk for a key of 35 bytes, and in memory SQLite's own cache of 2 MB.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.kafka.client import full_ranges, read_records

_WRITTEN = "INSERT OR IGNORE INTO live VALUES (?)"
_DELETED = "DELETE FROM live WHERE key = ?"


async def live_keys(
    client: AIOKafkaConsumer, places: Iterable[TopicPartition]
) -> AsyncGenerator[tuple[TopicPartition, bytes], None]:
    """The keys of these partitions, each as it is when its turn comes, in the order of bytes."""
    for place in places:
        with TemporaryDirectory() as folder, closing(_opened(Path(folder, "keys"))) as live:
            async for record in read_records(client, await full_ranges(client, [place])):
                live.execute(_DELETED if record.value is None else _WRITTEN, (record.key,))
            for (key,) in live.execute("SELECT key FROM live"):
                yield place, key


def _opened(path: Path) -> sqlite3.Connection:
    """A table of keys, in a transaction that nobody commits: what a crash leaves is of no use."""
    live = sqlite3.connect(path)
    live.execute("PRAGMA journal_mode = OFF")
    live.execute("CREATE TABLE live (key BLOB PRIMARY KEY) WITHOUT ROWID")
    return live
