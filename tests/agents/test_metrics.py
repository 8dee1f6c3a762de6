"""The metrics of a worker on a real Kafka have the right values."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from aiohttp import web

from agents.extract import Extract
from agents.fetch import Fetch
from agents.kafka.client import producer
from agents.kafka.groups import rewind
from agents.kafka.partitions import partition_of
from agents.kafka.tables.table import row_key
from agents.settings.job import Settings
from agents.stage import Stage
from agents.telemetry.health import Health
from models import document as documents
from models.dead_letter import DeadLetter, Record
from models.headers.names import ARRIVED
from tests.agents.fetched import quick, reaching, wanted
from tests.agents.pages_server import Web, html, serving, story
from tests.agents.records import PARTITIONS, Publish, ReadAll, Run, Sent
from tests.agents.test_pipeline import page, raw
from tests.agents.workers import BOTH, idle, is_ready, started, until, work
from tests.agents.workers import run as run_scenario
from tests.job.kafka_records import beginning

pytestmark = pytest.mark.kafka

HOUR = 3_600
ROWS = 5_000


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def metric(stage: Stage, name: str, **labels: str) -> float:
    """Return the current value of a stage's metric."""
    value = stage.metrics.registry.get_sample_value(f"urltree_{name}", labels)
    assert value is not None
    return value


async def send(settings: Settings, path: str, key: bytes | None, hours: float) -> None:
    """Publish a page whose first record came this number of hours ago."""
    arrived = [(ARRIVED, str(round((time.time() - hours * HOUR) * 1000)).encode())]
    place = partition_of(b"example.org", PARTITIONS)
    place = place if key else (place + 1) % PARTITIONS
    async with producer(settings) as client:
        topic = settings.topic("raw-html")
        await client.send_and_wait(topic, page(path), key, place, headers=arrived)


def test_a_page_is_timed_from_its_first_record_and_counts_once(job: Settings) -> None:
    """`page_seconds` measures a page's latency from its first record, and counts each page once.

    A time in the future gives 0, and replays are not counted.
    """

    async def publish() -> None:
        await send(job, "old", b"example.org", 2)
        await send(job, "not-keyed", None, 2)
        await send(job, "of-a-clock-ahead", b"example.org", -0.5)

    asyncio.run(publish())
    _, extract = work(job, *BOTH)
    assert metric(extract, "page_seconds_count") == 3
    assert metric(extract, "page_seconds_sum") >= 4 * HOUR
    assert metric(extract, "page_seconds_bucket", le="0.05") == 1
    assert metric(extract, "page_seconds_bucket", le="3600.0") == 1
    asyncio.run(rewind(job, "normalize", beginning(job, "raw-html")))
    _, extract = work(job, *BOTH)
    assert metric(extract, "replays_total") >= 3
    assert metric(extract, "page_seconds_count") == 0


def test_a_dead_letter_is_replayed_without_the_time_at_which_it_came(
    prefix: str, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """A replayed dead letter has no header with the time of its first arrival.

    So the days until the replay do not count as latency of the job.
    """
    headers = ((ARRIVED, b"1700000000000"), ("mine", b"kept"))
    original = Record(b"example.org", page(), headers)
    origin, topic = f"{prefix}raw-html/0/7", f"{prefix}raw-html"
    letter = DeadLetter(origin, "normalize", "internal", "a bug", topic, original)
    publish(Sent("dead-letters", *letter.to_record()))
    assert run("dead-letters", "replay", "--all", "--yes").exit_code == 0
    (record,) = read_all("raw-html")
    assert "mine" in dict(record.headers)
    assert ARRIVED not in dict(record.headers)


def test_characters_are_counted_by_verdict(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """`text_characters_total` counts the characters of main content and of boilerplate."""
    publish(*(raw(page(f"page-{letter}")) for letter in "abcdefgh"))
    _, extract = work(job, *BOTH)
    blocks = [block for r in read_all("documents") for block in documents.decode(r.value).blocks]
    kept, dropped = (
        metric(extract, "text_characters_total", verdict=verdict)
        for verdict in ("content", "boilerplate")
    )
    assert kept + dropped == sum(len(block.text) for block in blocks)
    assert kept > dropped > 0


def test_recovery_says_how_much_is_left_and_tables_how_large_they_are(job: Settings) -> None:
    """`recovery_records` is above 0 during a recovery and 0 afterwards.

    After the recovery, other metrics show the number of rows and the size of the state.
    """
    seen: list[float] = []

    async def scenario() -> None:
        async with producer(job) as client:
            name = job.topic("urltree-extract-rows-changelog")
            for number in range(ROWS):
                key = row_key("example.org", number.to_bytes(16, "big"))
                await client.send(name, bytes(200), key, 0)
            await client.flush()
        failures: list[BaseException] = []
        stage = Extract(job, failures.append)
        health = Health(stage, "127.0.0.1", 0)
        assert metric(stage, "recovery_records") == 0
        starting = asyncio.create_task(stage.app.start())
        while not is_ready(stage):
            seen.append(metric(stage, "recovery_records"))
            assert seen[-1] == 0 or health.unready()
            await asyncio.sleep(0.01)
        assert metric(stage, "recovery_records") == 0
        assert ROWS <= metric(stage, "rows", table="rows") < 1.1 * ROWS
        assert metric(stage, "rows", table="first") < ROWS
        assert metric(stage, "state_bytes") > ROWS * 200
        await starting
        await stage.app.stop()
        assert metric(stage, "state_bytes") == 0
        assert not failures

    run_scenario(scenario())
    assert 0 < max(seen) <= ROWS


def test_hosts_that_nobody_asks_yet_are_overdue(
    job: Settings, tmp_path: Path, publish: Publish
) -> None:
    """`hosts_overdue` counts a host that waits because a worker may fetch only one page at once."""
    pages, is_seen = Web(), asyncio.Event()

    async def held(request: web.Request) -> web.StreamResponse:
        await is_seen.wait()
        return await html(story("news.example/text", "text"))(request)

    for host in ("a.example", "b.example"):
        pages.put(f"{host}/1", held)
    publish(wanted("http://a.example/1"), wanted("http://b.example/1"))

    async def scenario() -> None:
        once = quick(job, tmp_path)
        async with (
            serving(pages),
            started(reaching(once, pages, fetches_at_once=1), Fetch) as (stage,),
        ):
            await until(lambda: metric(stage, "hosts_overdue") == 1)
            is_seen.set()
            await idle([stage])
            assert metric(stage, "hosts_overdue") == 0
            assert metric(stage, "pages_total") == 2

    run_scenario(scenario())
