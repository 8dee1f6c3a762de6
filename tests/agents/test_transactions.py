"""Workers and commands read committed records only, and end at markers of transactions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from faust.types import TP

from agents.commands.audit.command import account
from agents.kafka.client import (
    consumer,
    full_ranges,
    partitions,
    producer,
    read_records,
    refuse_open_transactions,
)
from agents.kafka.groups import committed_offsets
from agents.kafka.offsets.transactions import OPEN_SECONDS, OpenTransactions, high_watermarks
from agents.kafka.tables.live_keys import live_keys
from agents.normalize import Normalize
from agents.settings.job import Settings, SettingsError
from models import clean_text
from tests.agents.records import Publish, ReadAll, Sent
from tests.agents.test_pipeline import page, raw
from tests.agents.transactional import send, transactional
from tests.agents.workers import BOTH, idle, is_ready, run, started, until

CHANGELOG = "urltree-normalize-seen-changelog"
HERE = TP("raw-html", 3)


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory and commits often."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


async def group_lag(job: Settings, stage: str, topic: str) -> int:
    """Return the lag of a stage's group as Kafka's own tools compute it."""
    done = await committed_offsets(job, stage, topic)
    async with consumer(job) as client:
        ends = await high_watermarks(client, await partitions(client, job.topic(topic)))
    return sum(end - done.get(tp.partition, 0) for tp, end in ends.items())


@pytest.mark.kafka
def test_only_committed_pages_become_clean_text(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Aborted pages are never read, and open ones only when they are committed.

    Markers and aborted records count as done: at the end both lags are 0.
    """

    def texts() -> set[str]:
        return {clean_text.decode(one.value)["url"][-1] for one in read_all("clean-text")}

    async def scenario() -> None:
        raw_html = job.topic("raw-html")
        async with started(job, *BOTH) as stages, transactional(job) as out:
            normalize = stages[0]
            await until(lambda: all(map(is_ready, stages)))
            await out.begin_transaction()
            await send(out, job, [raw(page("a"))])
            await out.abort_transaction()
            await out.begin_transaction()
            await send(out, job, [raw(page("k"))])
            await out.commit_transaction()
            await until(lambda: normalize.metrics.documents._value.get() == 1)
            await out.begin_transaction()
            await send(out, job, [raw(page("o"))])
            await asyncio.to_thread(publish, raw(page("z")))
            await until(lambda: any(normalize.app.consumer.open_transactions().values()))
            assert normalize.app.consumer.lag({raw_html}) == 2
            assert normalize.metrics.documents._value.get() == 1
            assert (await account(job)).origins == 1
            await out.commit_transaction()
            await until(lambda: normalize.metrics.documents._value.get() == 3)
            await out.begin_transaction()
            await send(out, job, [raw(page("b"))])
            await out.abort_transaction()
            await idle(stages)
            await until(lambda: not normalize.app.consumer.lag({raw_html}))
            assert not any(normalize.app.consumer.open_transactions().values())
            while await group_lag(job, "normalize", "raw-html"):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            assert normalize.app.consumer.commit_age() == 0
        assert await asyncio.to_thread(texts) == {"k", "o", "z"}
        accounts = await account(job)
        assert (accounts.origins, accounts.missing) == (3, 0)

    run(scenario())


@pytest.mark.kafka
def test_a_table_is_restored_from_a_changelog_with_markers(job: Settings) -> None:
    """Recovery ends behind markers and aborted rows, and waits for open transactions.

    Rows of a worker may follow the first record of a stranger's transaction.
    """

    async def scenario() -> None:
        def row(key: bytes, value: bytes = b"v") -> Sent:
            return Sent(CHANGELOG, key, value, partition=2)

        async with transactional(job) as out, producer(job) as plain:
            await out.begin_transaction()
            await send(out, job, [row(b"kept")])
            await out.commit_transaction()
            await out.begin_transaction()
            await send(out, job, [row(b"kept", b"aborted"), row(b"aborted")])
            await out.abort_transaction()
            await out.begin_transaction()
            await send(out, job, [row(b"open")])
            await plain.send_and_wait(job.topic(CHANGELOG), b"v", b"ours", 2)
            stage = Normalize(job, pytest.fail)
            starting = asyncio.create_task(stage.app.start())
            await until(lambda: 0 < stage.app.tables.remaining < 7)  # offset 0 is read
            await asyncio.sleep(6)  # longer than the checks after which recovery ends
            assert not is_ready(stage)
            await out.abort_transaction()
            await starting
            await until(lambda: is_ready(stage))
            assert dict(stage.table.scan(2, b"")) == {b"kept": b"v", b"ours": b"v"}
            await stage.app.stop()

    run(scenario())


@pytest.mark.kafka
def test_commands_end_at_markers_and_name_open_transactions(
    job: Settings, read_all: ReadAll
) -> None:
    """Reading a topic ends at the markers at its end; a state is not read while it is hidden."""

    async def scenario() -> None:
        here = TopicPartition(job.topic(CHANGELOG), 1)

        async def found() -> list[bytes]:
            async with consumer(job) as client:
                return [key async for _, key in live_keys(client, [here])]

        async with transactional(job) as out, consumer(job) as client:
            for key, end in ((b"a", out.commit_transaction), (b"b", out.abort_transaction)):
                await out.begin_transaction()
                await send(out, job, [Sent(CHANGELOG, key, b"v", partition=1)])
                await end()
            assert await full_ranges(client, [here]) == {here: (0, 4)}
            assert [r.key async for r in read_records(client, {here: (0, 4)})] == [b"a"]
            assert await found() == [b"a"]
            await out.begin_transaction()
            await send(out, job, [Sent(CHANGELOG, b"c", b"v", partition=1)])
            with pytest.raises(SettingsError, match=r"hides 1 offsets of .*, partition 1"):
                await refuse_open_transactions(client, [here])
            with pytest.raises(SettingsError):
                await found()
            await out.abort_transaction()
            assert await found() == [b"a"]
        assert await asyncio.to_thread(read_all, "documents") == []

    run(scenario())


def test_a_transaction_is_open_while_its_first_offset_stands_still(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only a stable offset that stands still below the end ages; it is logged once."""
    open_ = OpenTransactions()
    open_.observe({HERE: (5, 9)}, 100.0)
    open_.observe({HERE: (7, 12)}, 150.0)
    assert open_.age(HERE, 160.0) == 10.0
    for seconds in (1.0, OPEN_SECONDS + 1, OPEN_SECONDS + 2):
        open_.observe({HERE: (7, 12)}, 150.0 + seconds)
    open_.observe({HERE: (12, 12)}, 300.0)
    assert open_.age(HERE, 300.0) == 0.0
    said = capsys.readouterr()
    lines = (said.out + said.err).splitlines()
    assert len([line for line in lines if "blocks a partition" in line]) == 1
    assert len([line for line in lines if "transaction has ended" in line]) == 1


def test_a_partition_that_is_not_read_has_no_open_transaction() -> None:
    """A partition that moved to another worker is forgotten."""
    open_ = OpenTransactions()
    open_.observe({HERE: (5, 9)}, 100.0)
    open_.observe({}, 101.0)
    assert open_.age(HERE, 500.0) == 0.0
