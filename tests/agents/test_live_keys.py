"""The live rows of compacted topics are found without holding all keys in memory."""

from __future__ import annotations

import asyncio
import tempfile
import tracemalloc
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from agents.kafka.client import consumer, partitions, producer
from agents.kafka.tables.live_keys import live_keys
from agents.settings.job import Settings
from tests.conftest import Record

pytestmark = pytest.mark.kafka

TOPIC = "urltree-extract-rows-changelog"
KEYS = 20_000
KEY_BYTES = 1_000


async def write(job: Settings, partition: int, rows: Iterable[tuple[bytes, bytes | None]]) -> None:
    """Write rows to a partition of the changelog in this order; the value None deletes a row."""
    async with producer(job) as out:
        sent = [await out.send(job.topic(TOPIC), v, key, partition) for key, v in rows]
        await asyncio.gather(*sent)


async def found(job: Settings) -> list[tuple[int, bytes]]:
    """Return the partition and the key of each live row."""
    async with consumer(job) as client:
        places = await partitions(client, job.topic(TOPIC))
        return [(place.partition, key) async for place, key in live_keys(client, places)]


def names(folder: Path) -> list[str]:
    """Return the names of the files in a directory."""
    return [path.name for path in folder.iterdir()]


def test_a_row_is_left_unless_it_was_deleted_last(job: Settings) -> None:
    """Each row whose last record is not a tombstone is returned once, for each partition."""

    async def scenario() -> None:
        await write(job, 1, [(b"b", b"1"), (b"a", b"1"), (b"c", b"1"), (b"b", b"2"), (b"c", None)])
        await write(job, 4, [(b"c", None), (b"c", b""), (b"a", b"1"), (b"a", None)])
        assert await found(job) == [(1, b"a"), (1, b"b"), (4, b"c")]

    asyncio.run(scenario())


def test_rows_are_not_held_in_memory(job: Settings, record: Record) -> None:
    """When the first key is returned, all records have been read, but few keys are in memory."""

    async def scenario() -> int:
        await write(job, 2, ((b"%0*d" % (KEY_BYTES, n), b"v") for n in range(KEYS)))
        async with consumer(job) as client:
            tracemalloc.start()
            before, _ = tracemalloc.get_traced_memory()
            async with aclosing(live_keys(client, [TopicPartition(job.topic(TOPIC), 2)])) as live:
                await anext(live)
                held = tracemalloc.get_traced_memory()[0] - before
                tracemalloc.stop()
                assert [key async for _, key in live] == [
                    b"%0*d" % (KEY_BYTES, n) for n in range(1, KEYS)
                ]
        return held

    held = asyncio.run(scenario())
    record(f"reset: {KEYS:,} keys of {KEY_BYTES:,} bytes, {held / 1e6:.1f} MB held at once")
    assert held < KEYS * KEY_BYTES / 2


def test_nothing_stays_on_disk_when_one_row_was_enough(
    job: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that stops after the first row leaves no temporary file."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def scenario() -> None:
        await write(job, 0, [(b"a", b"1"), (b"b", b"1")])
        async with consumer(job) as client:
            places = [TopicPartition(job.topic(TOPIC), 0)]
            async with aclosing(live_keys(client, places)) as live:
                assert (await anext(live))[1] == b"a"
                assert len(names(tmp_path)) == 1

    asyncio.run(scenario())
    assert names(tmp_path) == []
