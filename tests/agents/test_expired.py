"""Records that retention deletes before a worker reads them are recorded as lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import RecordsToDelete

from agents.commands.audit.command import account
from agents.kafka.client import admin
from agents.kafka.delivery import Work
from agents.kafka.partitions import partition_of
from agents.normalize import Normalize
from agents.settings.job import Settings
from models.dead_letter import DeadLetter
from tests.agents import workers
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run
from tests.agents.test_pipeline import page, raw
from tests.agents.workers import idle, is_ready, started, until, work

HERE = partition_of(b"example.org", PARTITIONS)


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory and commits often."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


async def delete(job: Settings, before: int) -> None:
    """Delete the records of example.org before this offset, as retention does."""
    async with admin(job) as client:
        at = TopicPartition(job.topic("raw-html"), HERE)
        await client.delete_records({at: RecordsToDelete(before)})


def ranges(read_all: ReadAll) -> list[tuple[int, int]]:
    """Return the offsets of the dead letters `expired`, in order."""
    letters = [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]
    assert {letter.reason for letter in letters} <= {"expired"}
    return sorted(letter.offsets for letter in letters if letter.offsets)


def lost(stage: Any) -> float:
    """Return the number of offsets that a stage has counted as expired."""
    return float(stage.metrics.lost_offsets.labels("expired")._value.get())


@pytest.mark.kafka
def test_records_deleted_while_the_worker_was_stopped(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """The range from the committed offset on becomes a dead letter, and the audit counts it."""
    publish(*(raw(page(f"page-{n}")) for n in range(5)))
    work(job, Normalize)
    publish(*(raw(page(f"late-{n}")) for n in range(5)))
    asyncio.run(delete(job, 8))
    (stage,) = work(job, Normalize)
    assert ranges(read_all) == [(5, 7)]
    assert lost(stage) == 3
    assert stage.metrics.documents._value.get() == 2
    (again,) = work(job, Normalize)
    assert lost(again) == again.metrics.documents._value.get() == 0
    found = run("audit", "--json")
    assert found.exit_code == 1
    accounts = orjson.loads(found.stdout)
    name = f"{job.topic('raw-html')}/{HERE}/5-7"
    assert (accounts["origins"], accounts["missing"], accounts["expired"]) == (2, 5, 3)
    assert accounts["left"] == 5
    assert accounts["first_missing"][0] == name
    said = run("audit").stdout
    assert "3 of the missing offsets expired before they were read" in said
    assert "5 offsets had left the topic before this audit" in said
    assert run("audit", "--from", "8", "--json").stdout.count('"expired":0') == 1


@pytest.mark.kafka
def test_records_deleted_while_the_worker_is_behind(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A worker whose reader is overtaken records what it skips, and processes all other records."""
    gate = asyncio.Event()

    class Slow(Normalize):
        async def process(self, message: Any, origin: str, work: Work) -> None:
            await gate.wait()
            await super().process(message, origin, work)

    pages = 500
    publish(*(raw(page(f"page-{n}", html=f"<p>{n} {'long ' * 2_000}")) for n in range(pages)))

    async def scenario() -> None:
        async with started(job, Slow) as [stage]:
            await until(lambda: stage.delivery.records == 1)
            await delete(job, pages - 50)
            gate.set()
            await idle([stage])
            (skipped,) = await asyncio.to_thread(ranges, read_all)
            assert skipped[1] == pages - 51
            read = stage.metrics.documents._value.get()
            assert read == pages - lost(stage)
            assert skipped[0] == read - 50
            assert stage.app.consumer.lag(stage.sources) == 0

    workers.run(scenario())


@pytest.mark.kafka
def test_a_log_that_begins_later_is_no_loss_for_a_new_group(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A group that has committed nothing begins at the oldest record and records no loss.

    The audit tells how many offsets it cannot know.
    """
    publish(*(raw(page(f"page-{n}")) for n in range(3)))
    asyncio.run(delete(job, 2))
    (stage,) = work(job, Normalize)
    assert stage.metrics.documents._value.get() == 1
    assert ranges(read_all) == []
    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.expired, accounts.left) == (1, 0, 2)


@pytest.mark.kafka
def test_a_group_that_waited_for_its_first_record_begins_there(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A worker commits where it began, so records deleted before its first one are known."""

    async def wait() -> None:
        async with started(job, Normalize) as [stage]:
            await until(lambda: is_ready(stage) and stage.app.consumer.committed_at > 0)

    workers.run(wait())
    publish(*(raw(page(f"page-{n}")) for n in range(3)))
    asyncio.run(delete(job, 2))
    work(job, Normalize)
    assert ranges(read_all) == [(0, 1)]


def test_compacted_topics_lose_no_record() -> None:
    """In a compacted topic a missing record was replaced, so `feeds` and changelogs are exempt."""
    topics = Normalize(Settings(), pytest.fail).app.consumer._deleting
    assert {"raw-html", "documents", "fetches", "poll-outcomes"} <= topics
    assert "feeds" not in topics
    assert not any(topic.endswith("-changelog") for topic in topics)
