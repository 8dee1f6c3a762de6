"""Our transport corrects which offsets Faust commits, and when Faust's flush returns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import Mock

import faust
import pytest
from aiokafka.errors import NoOffsetForPartitionError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from agents.extract import Extract
from agents.kafka.delivery import Delivery
from agents.kafka.transport import ConsumerThread
from agents.normalize import Normalize
from agents.settings.job import Settings
from tests.agents.records import Publish
from tests.agents.test_pipeline import page, raw
from tests.agents.workers import PATIENCE, idle, is_ready, run, started, until


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory and commits often."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def messages(app: Any, topic: str, count: int) -> Iterator[Any]:
    """Yield `count` records of partition 0 as a consumer does, with offsets from 0 on."""
    for offset in range(count):
        yield faust.types.tuples.ConsumerMessage(
            topic=topic,
            partition=0,
            offset=offset,
            timestamp=0.0,
            timestamp_type=0,
            headers=(),
            key=b"",
            value=b"",
            checksum=None,
            tp=TP(topic, 0),
            generation_id=app.consumer_generation_id,
        )


def test_faust_commits_past_an_unacked_event_and_ours_does_not() -> None:
    """Our consumer does not commit past a record that is still in work, although Faust's does.

    After a crash, the record in work at offset 0 must be read again.
    """

    async def scenario() -> None:
        theirs = faust.App("theirs", broker="kafka://127.0.0.1:1")
        theirs.topics._acking_topics.add("raw-html")
        for message in list(messages(theirs, "raw-html", 5))[1:]:
            theirs.consumer.ack(message)
        assert theirs.consumer._new_offset(TP("raw-html", 0)) == 5

        ours = Normalize(Settings(), pytest.fail).app
        delivery = Delivery(ours.consumer, pytest.fail, max_records=9, max_bytes=9)
        works = [await delivery.begin(message) for message in messages(ours, "raw-html", 5)]
        for work in works[1:]:
            work.close()
        assert ours.consumer._new_offset(TP("raw-html", 0)) is None
        works[0].close()
        assert ours.consumer._new_offset(TP("raw-html", 0)) == 5

    run(scenario())


def test_what_a_stream_skips_is_not_committed() -> None:
    """A record that Faust acknowledges without processing it is not committed.

    Faust acknowledges the events that it drops during a rebalance.
    """

    async def scenario() -> None:
        app = Normalize(Settings(), pytest.fail).app
        (message,) = messages(app, "raw-html", 1)
        app.consumer.ack(message)
        assert app.consumer._new_offset(TP("raw-html", 0)) is None

    run(scenario())


def test_a_record_of_an_earlier_generation_is_not_committed() -> None:
    """A record that was read before a rebalance is not committed after it.

    Another worker may own its partition and have continued at the last commit.
    """

    async def scenario() -> None:
        app = Normalize(Settings(), pytest.fail).app
        (message,) = messages(app, "raw-html", 1)
        app.consumer_generation_id += 1
        app.consumer.confirm(message)
        assert app.consumer._new_offset(TP("raw-html", 0)) is None

    run(scenario())


@pytest.mark.kafka
def test_flush_waits_for_what_was_queued_and_not_for_what_comes_after(job: Settings) -> None:
    """`flush` waits only for records that were queued before it, not for later ones.

    Commits wait for `flush`, and under load Faust's own `flush` never returns.
    """

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            producer = stage.app.producer
            last: list[asyncio.Future[Any]] = []

            async def refill() -> None:
                while True:
                    last.append(await producer.deliver(job.topic("clean-text"), 0, b"k", b"v"))
                    await asyncio.sleep(0)

            queued = await producer.deliver(job.topic("clean-text"), 0, b"k", b"v")
            filling = asyncio.create_task(refill())
            async with asyncio.timeout(PATIENCE):
                await producer.flush()
            assert queued.done()
            filling.cancel()
            await asyncio.gather(*last)

    run(scenario())


@pytest.mark.kafka
def test_commits_go_on_under_saturation(job: Settings, publish: Publish) -> None:
    """Offsets are committed again and again while records are always in work."""
    publish(*(raw(page(f"page-{number}")) for number in range(800)))
    often = job.model_copy(update={"commit_seconds": 0.05})

    async def scenario() -> None:
        async with started(often, Normalize) as [stage]:
            consumer = stage.app.consumer
            await until(lambda: consumer.committed_at > 0)
            await until(lambda: consumer.lag({job.topic("raw-html")}) > 0)  # the first fetch
            commits = set()
            while consumer.lag({job.topic("raw-html")}):
                commits.add(consumer.committed_at)
                await asyncio.sleep(0.01)
            assert len(commits) > 1
            await idle([stage])

    run(scenario())


@pytest.mark.kafka
def test_a_worker_without_a_session_waits_for_kafka_to_answer(
    job: Settings, publish: Publish
) -> None:
    """After a pause longer than its session, a worker processes no record before a heartbeat."""

    async def scenario() -> None:
        async with started(job, Normalize) as [stage]:
            await until(lambda: is_ready(stage))
            thread = stage.app.consumer._thread
            assert stage.app.consumer.has_session
            thread.heartbeat_at -= 3_600
            assert not stage.app.consumer.has_session
            await asyncio.to_thread(publish, raw(page()))
            await until(lambda: stage.metrics.documents._value.get() == 1)
            assert thread.heartbeat_at > monotonic() - 60

    run(scenario())


@pytest.mark.kafka
def test_a_seek_goes_back_also_where_nothing_was_committed(job: Settings, publish: Publish) -> None:
    """A seek without a committed offset goes back to the beginning of the partition.

    Records that were fetched before the seek are dropped and must be fetched again.
    """
    publish(raw(page()))
    never = job.model_copy(update={"commit_seconds": 3_600.0})

    async def scenario() -> None:
        async with started(never, Normalize) as [stage]:
            await until(lambda: stage.metrics.documents._value.get() == 1)
            await stage.app.consumer.perform_seek()
            await until(lambda: stage.metrics.replays._value.get() == 1)

    run(scenario())


def test_a_fetch_that_fails_tells_no_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions of an earlier fetch may be from before a seek, and must not be committed."""
    place = TP("raw-html", 0)

    async def fail(*_: Any, **__: Any) -> None:
        raise NoOffsetForPartitionError(place)

    monkeypatch.setattr(driver.AIOKafkaConsumerThread, "_fetch_records", fail)
    thread = object.__new__(ConsumerThread)
    thread.positions = {place: 200}
    client = Mock()
    client._subscription.subscription.assignment.state_value.return_value = None
    assert asyncio.run(thread._fetch_records(client, {place})) == {}
    assert thread.positions == {}
