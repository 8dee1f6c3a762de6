"""The live rows of compacted topics, found without keeping all keys in memory."""

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
    """Write rows to a changelog in this order; None deletes a row."""
    async with producer(job) as out:
        sent = [await out.send(job.topic(TOPIC), v, key, partition) for key, v in rows]
        await asyncio.gather(*sent)


async def found(job: Settings) -> list[tuple[int, bytes]]:
    """Return partitions and keys of the live rows."""
    async with consumer(job) as client:
        places = await partitions(client, job.topic(TOPIC))
        return [(place.partition, key) async for place, key in live_keys(client, places)]


def names(folder: Path) -> list[str]:
    """Return the names of the files in a directory."""
    return [path.name for path in folder.iterdir()]


def test_a_row_is_left_unless_it_was_deleted_last(job: Settings) -> None:
    """Each live row comes once; the same key in another partition is another row."""

    async def scenario() -> None:
        await write(job, 1, [(b"b", b"1"), (b"a", b"1"), (b"c", b"1"), (b"b", b"2"), (b"c", None)])
        await write(job, 4, [(b"c", None), (b"c", b""), (b"a", b"1"), (b"a", None)])
        assert await found(job) == [(1, b"a"), (1, b"b"), (4, b"c")]

    asyncio.run(scenario())


def test_rows_are_not_held_in_memory(job: Settings, record: Record) -> None:
    """All records have been read before the first key comes, and almost none are in memory."""

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
    """A caller that only asks whether there is any row stops after the first."""
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
