"""A worker begins at its committed offset, also while Kafka cannot tell it."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import GroupLoadInProgressError, KafkaError, NotCoordinatorForGroupError
from aiokafka.protocol.commit import (
    OffsetFetchRequest,
    OffsetFetchResponse_v1,
    OffsetFetchResponse_v3,
)
from faust.types import TP

from agents.commands.topics import apply
from agents.kafka.batches.fetching import Fetcher
from agents.kafka.groups import committed_offsets
from agents.kafka.offsets.answers import check_answer
from agents.kafka.offsets.progress import Progress
from agents.normalize import Normalize
from agents.settings.job import Settings
from agents.telemetry.health import Health
from demo.kafka import Kafka
from tests.agents.limits import OF_WORKERS
from tests.agents.records import Publish
from tests.agents.test_pipeline import page, raw
from tests.agents.workers import idle, is_ready, run, started, until, work
from tests.job.kafka_records import Sent, partition_of
from tests.job.kafka_records import publish as publish_pages

NOT_COORDINATOR, LOADING = 16, 14
HERE = TP("raw-html", 0)


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return settings of a job whose worker has its own data directory and commits often."""
    return job.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


class NoAnswers:
    """Answers with an error to requests for committed offsets, as a coordinator that moves."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_over = threading.Event()

    def refuse(self, request: Any) -> bool:
        """Return whether a request gets an answer with an error."""
        if not isinstance(request, OffsetFetchRequest) or self.is_over.is_set():
            return False
        self.asked += 1
        return True


@pytest.fixture
def no_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[NoAnswers]:
    """Let all clients of this process get no committed offsets until `is_over` is set."""
    fake, send = NoAnswers(), AIOKafkaClient.send

    async def answer(client: Any, node: int, request: Any, **options: Any) -> Any:
        if fake.refuse(request):
            return OffsetFetchResponse_v3(0, [], NOT_COORDINATOR)
        return await send(client, node, request, **options)

    monkeypatch.setattr(AIOKafkaClient, "send", answer)
    yield fake
    fake.is_over.set()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (OffsetFetchResponse_v3(0, [], NOT_COORDINATOR), NotCoordinatorForGroupError),
        (OffsetFetchResponse_v3(0, [], LOADING), GroupLoadInProgressError),
        (OffsetFetchResponse_v1([("t", [(0, -1, "", LOADING)])]), GroupLoadInProgressError),
    ],
)
def test_an_answer_with_an_error_is_no_answer(answer: Any, error: type[KafkaError]) -> None:
    """The error code of the whole answer counts, and that of each partition."""
    with pytest.raises(error):
        check_answer(answer)


def test_nothing_committed_is_an_answer() -> None:
    """The offset -1 without an error means that nothing is committed."""
    check_answer(OffsetFetchResponse_v3(0, [("t", [(0, -1, "", 0)])], 0))


@pytest.mark.kafka
def test_a_worker_asks_again_and_reads_nothing_meanwhile(
    job: Settings, publish: Publish, no_answers: NoAnswers
) -> None:
    """While Kafka does not tell the offsets, a worker is unready, and keeps its session.

    Then it continues at the committed offset and repeats nothing.
    """
    publish(*(raw(page(f"page-{number}")) for number in range(3)))
    no_answers.is_over.set()
    work(job, Normalize)
    no_answers.is_over.clear()

    async def scenario() -> None:
        stage = Normalize(job, pytest.fail)
        health = Health(stage, "127.0.0.1", 0)
        starting = asyncio.create_task(stage.app.start())
        await until(lambda: "NotCoordinator" in (health.unready() or ""))
        asked, beat = no_answers.asked, stage.app.consumer._thread.heartbeat_at
        await until(lambda: stage.app.consumer._thread.heartbeat_at > beat)
        await until(lambda: no_answers.asked > asked + 3)
        assert stage.app.consumer.progress.partitions() == set()
        no_answers.is_over.set()
        await starting
        await idle([stage])
        assert health.unready() is None
        assert stage.metrics.documents._value.get() == 0
        await stage.app.stop()

    run(scenario())


@pytest.mark.kafka
def test_a_command_asks_again(job: Settings, publish: Publish, no_answers: NoAnswers) -> None:
    """Commands take no answer with an error for "nothing committed"."""
    no_answers.is_over.set()
    publish(*(raw(page(f"page-{number}")) for number in range(3)))
    work(job, Normalize)
    no_answers.is_over.clear()

    async def scenario() -> None:
        asking = asyncio.create_task(committed_offsets(job, "normalize", "raw-html"))
        await until(lambda: no_answers.asked > 2)
        no_answers.is_over.set()
        assert sum((await asking).values()) == 3

    run(scenario())


@pytest.mark.kafka
@pytest.mark.thorough
@pytest.mark.parametrize("restarts", [1, 6])
def test_committed_offsets_survive_restarts_of_the_broker(
    own_kafka: type[Kafka], tmp_path: Path, restarts: int
) -> None:
    """Seeks while the broker restarts never begin at 0 where an offset is committed."""
    with own_kafka() as kafka:
        settings = Settings.model_validate(
            {"brokers": kafka.brokers, "data_dir": tmp_path, **OF_WORKERS, "commit_seconds": 0.3}
        )
        asyncio.run(apply(settings))
        asyncio.run(publish_pages(settings, "raw-html", [sent(f"page-{n}") for n in range(9)]))

        async def scenario() -> None:
            async with started(settings, Normalize) as [stage]:
                await idle([stage])
                consumer = stage.app.consumer
                await until(lambda: consumer._committed_offset[found(consumer)] == 9)
                tp = found(consumer)
                for _ in range(restarts):
                    restart = asyncio.create_task(asyncio.to_thread(kafka.restart))
                    while not restart.done():
                        await until(lambda: is_ready(stage))
                        assert (await consumer.seek_to_committed())[tp] == 9
                    await restart
                await idle([stage])
                assert stage.metrics.replays._value.get() == 0

        run(scenario())


def sent(name: str) -> Sent:
    """Return the record of a page of example.org."""
    return Sent(b"example.org", page(name), partition_of(b"example.org"))


def found(consumer: Any) -> TP:
    """Return the partition of raw-html with most confirmed records."""
    return max(consumer.assignment(), key=lambda tp: consumer.progress.done(tp) or 0)


def test_a_partition_is_done_up_to_its_last_confirmed_record() -> None:
    """While a delivered record is unconfirmed, no position of the reader counts."""
    progress = Progress()
    assert progress.done(HERE) is None
    for offset in (5, 6, 7):
        progress.deliver(HERE, offset)
    progress.confirm(HERE, 5)
    progress.move({HERE: 12})
    assert progress.done(HERE) == 6
    progress.confirm(HERE, 6)
    assert progress.done(HERE) == 7


def test_a_partition_is_done_up_to_the_reader_when_nothing_is_in_flight() -> None:
    """Offsets without a record count as done when all records before them are confirmed."""
    progress = Progress()
    progress.move({HERE: 3})
    assert progress.done(HERE) == 3
    progress.deliver(HERE, 3)
    assert progress.done(HERE) == 3
    progress.confirm(HERE, 3)
    assert progress.done(HERE) == 4
    progress.move({HERE: 9})
    assert progress.done(HERE) == 9


def test_a_position_before_a_later_record_counts_without_that_record() -> None:
    """A position stays valid when later records were delivered since, and does not cover them."""
    progress = Progress()
    progress.deliver(HERE, 3)
    progress.confirm(HERE, 3)
    progress.move({HERE: 9})
    progress.deliver(HERE, 9)
    assert progress.done(HERE) == 9


def test_a_seek_forgets_what_was_delivered_but_not_what_was_confirmed() -> None:
    """After a seek back, nothing is done that was not confirmed or passed again."""
    progress = Progress()
    progress.deliver(HERE, 5)
    progress.confirm(HERE, 4)
    progress.restart()
    assert progress.done(HERE) == 5
    progress.move({HERE: 5})
    assert progress.done(HERE) == 5
    progress.drop(HERE)
    assert progress.partitions() == set()


def test_a_second_error_of_a_partition_does_not_end_the_fetching() -> None:
    """A partition whose position is asked for twice may have two errors until the first is seen."""
    fetcher, errors = object.__new__(Fetcher), [KafkaError("first"), KafkaError("second")]
    fetcher._records, fetcher._prefetch_backoff = OrderedDict(), 0.1
    for error in errors:
        fetcher._set_error(TopicPartition(*HERE), error)
    assert [found._error for found in fetcher._records.values()] == errors[:1]


def test_a_consumer_that_fetches_no_more_is_an_error() -> None:
    """If the task that sends requests fails, the next call says so instead of waiting for ever."""

    async def scenario() -> None:
        fetcher, failed = object.__new__(Fetcher), asyncio.get_running_loop().create_future()
        failed.set_exception(KafkaError("a bug in this task"))
        fetcher._fetch_task, fetcher._closed = failed, False
        with pytest.raises(KafkaError, match="no longer fetched"):
            await fetcher.fetched_records([])

    asyncio.run(scenario())
