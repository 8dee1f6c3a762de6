"""Tables store rows, and the offset up to which the disk contains a partition's changelog."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from faust.types import TP

from agents.extract import Extract
from agents.kafka.client import options, producer
from agents.kafka.tables.store import Store
from agents.kafka.tables.table import BATCH, ConfirmedTable, row_key, row_prefix
from agents.settings.job import Settings
from tests.agents.workers import is_ready, run, started, until

pytestmark = pytest.mark.kafka

CHANGELOG = "urltree-extract-rows-changelog"
KEY = row_key("example.org", b"0123456789abcdef")


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory."""
    return job.model_copy(update={"data_dir": tmp_path})


async def put(
    table: ConfirmedTable, value: bytes | None, key: bytes = KEY, partition: int = 0
) -> int:
    """Put a value, or delete the row for None; return the confirmed offset in the changelog."""
    if value is None:
        confirmed = await (await table.delete(partition, key))
    else:
        confirmed = await (await table.put(partition, key, value))
    await asyncio.sleep(0)
    return int(confirmed.offset)


def persisted(table: ConfirmedTable, partition: int = 0) -> int | None:
    """Return the stored offset up to which the disk contains the changelog."""
    offset: int | None = table.data.persisted_offset(TP(table.changelog_topic_name, partition))
    return offset


async def write_elsewhere(job: Settings, key: bytes, value: bytes) -> None:
    """Write a row to partition 0 of the changelog, as another worker does."""
    async with producer(job) as client:
        await client.send_and_wait(job.topic(CHANGELOG), value, key, 0)


def test_rows_are_kept_in_rocksdb_and_in_the_changelog(job: Settings) -> None:
    """Rows are stored in RocksDB and in the changelog, which restores them on an empty disk."""

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert isinstance(stage.table.data, Store)
            await put(stage.table, b"kept")
            await put(stage.table, b"deleted", KEY + b"x")
            await put(stage.table, None, KEY + b"x")
            assert list(stage.table.data.path.glob("rows-0.db/CURRENT"))
        empty = job.model_copy(update={"data_dir": job.data_dir / "empty"})
        empty.data_dir.mkdir()
        for settings in (job, empty):
            async with started(settings, Extract) as [stage]:
                await until(lambda stage=stage: is_ready(stage))
                assert stage.table.get(0, KEY) == b"kept"
                assert stage.table.get(0, KEY + b"x") is None

    run(scenario())


def test_a_deleted_row_is_out_of_sight_at_once_and_off_the_disk_once_confirmed(
    job: Settings,
) -> None:
    """A deleted row is hidden at once, and removed from the disk after Kafka's confirmation."""

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            await put(stage.table, b"first")
            confirmed = await stage.table.delete(0, KEY)
            assert stage.table.get(0, KEY) is None
            assert list(stage.table.scan(0, row_prefix("example.org"))) == []
            assert stage.table.data.get(0, KEY) == b"first"
            await confirmed
            await asyncio.sleep(0)
            assert stage.table.data.get(0, KEY) is None

    run(scenario())


def test_what_is_put_again_is_not_deleted_by_an_earlier_tombstone(job: Settings) -> None:
    """The late confirmation of a deletion does not delete a row that was put after it."""

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            await put(stage.table, b"first")
            deleted = await stage.table.delete(0, KEY)
            again = await stage.table.put(0, KEY, b"second")
            assert stage.table.get(0, KEY) == b"second"
            await asyncio.gather(deleted, again)
            await asyncio.sleep(0)
            assert stage.table.get(0, KEY) == b"second"

    run(scenario())


def test_a_scan_gives_the_rows_of_one_domain_and_no_others(job: Settings) -> None:
    """A scan returns only the rows of one domain in one partition.

    It omits Faust's own key, and other domains whose names begin with the same letters.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            for domain in ("a.org", "a.or", "a.org.uk", "b.org"):
                await put(stage.table, domain.encode(), row_key(domain, b"\xff" * 16))
            await put(stage.table, b"elsewhere", row_key("a.org", b"\0" * 16), partition=1)
            rows = list(stage.table.scan(0, row_prefix("a.org")))
            assert rows == [(row_key("a.org", b"\xff" * 16), b"a.org")]

    run(scenario())


def test_a_whole_partition_is_read_in_pages_without_fausts_own_key(job: Settings) -> None:
    """A scan with an empty prefix returns each row of a partition once, in batches.

    It omits Faust's own key.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            keys = [
                row_key(domain, bytes([n] * 16)) for domain in ("a.org", "z.org") for n in (0, 1)
            ]
            confirmed = [await stage.table.put(0, key, b"row") for key in keys]
            await asyncio.gather(*confirmed)
            assert persisted(stage.table) is not None
            assert [key for key, _ in stage.table.scan(0, b"")] == keys
            for rows in range(2 * BATCH):
                stage.table.data.put(1, rows.to_bytes(4, "big"), b"row")
            pages = list(stage.table.scan_batches(1, b""))
            assert [len(page) for page in pages] == [BATCH, BATCH]
            assert len({key for page in pages for key, _ in page}) == 2 * BATCH
            assert list(stage.table.scan_batches(0, row_prefix("a.org"))) == [
                [(k, b"row") for k in keys[:2]]
            ]

    run(scenario())


def test_a_late_confirmation_does_not_claim_what_another_worker_wrote(job: Settings) -> None:
    """A confirmed write does not advance the stored offset past records of another worker.

    So the next recovery reads these records. Faust's own table would skip them.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            held = await put(stage.table, b"mine")
            assert persisted(stage.table) == held
            await write_elsewhere(job, KEY + b"y", b"another's")
            await put(stage.table, b"late")
            assert persisted(stage.table) == held
            assert stage.table.get(0, KEY + b"y") is None
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert stage.table.get(0, KEY) == b"late"
            assert stage.table.get(0, KEY + b"y") == b"another's"
            assert persisted(stage.table) == held + 2

    run(scenario())


def test_a_write_of_an_earlier_ownership_claims_nothing(job: Settings) -> None:
    """The confirmation of a write from before a rebalance does not advance the stored offset.

    Meanwhile another worker may have owned the partition.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            held = await put(stage.table, b"mine")
            future = await stage.table.put(0, KEY, b"late")
            stage.table._generation += 1
            assert (await future).offset == held + 1
            await asyncio.sleep(0)
            assert persisted(stage.table) == held

    run(scenario())


def test_a_disk_older_than_tombstones_live_is_restored_from_the_changelog(job: Settings) -> None:
    """A disk that was not used for longer than tombstones are kept is restored from the changelog.

    Otherwise a row that another worker has deleted could reappear.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            await put(stage.table, b"kept")
            stage.table.data.put(0, KEY + b"ghost", b"deleted elsewhere")
            marks = list(stage.table.data.path.glob("rows-*.in-use"))
        assert len(marks) == 6
        for mark in marks:
            os.utime(mark, (0, 0))
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert stage.table.get(0, KEY) == b"kept"
            assert stage.table.get(0, KEY + b"ghost") is None

    run(scenario())


def test_a_disk_ahead_of_its_changelog_is_restored(job: Settings) -> None:
    """A disk whose stored offset is beyond the end of the changelog is restored from it.

    This happens if the topic was created again. Faust would end the worker at each start.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            held = await put(stage.table, b"kept")
            stage.table.data.put(0, KEY + b"ghost", b"of the former topic")
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            stage.table.data.set_persisted_offset(TP(job.topic(CHANGELOG), 0), held + 1_000)
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert stage.table.get(0, KEY) == b"kept"
            assert stage.table.get(0, KEY + b"ghost") is None
            assert persisted(stage.table) == held

    run(scenario())


def test_recovery_ends_where_the_last_offset_holds_no_record(job: Settings) -> None:
    """Recovery ends even if the changelog has no record at its last offset.

    Compaction may remove a last tombstone; here this offset is the end of a transaction.
    """

    async def scenario() -> None:
        client = AIOKafkaProducer(**options(job), transactional_id=f"{job.prefix}writer")
        await client.start()
        async with client.transaction():
            await client.send_and_wait(job.topic(CHANGELOG), b"kept", KEY, 0)
        await client.stop()
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert stage.table.get(0, KEY) == b"kept"

    run(scenario())
