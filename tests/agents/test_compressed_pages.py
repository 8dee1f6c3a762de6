"""Compressed pages become clean text, and a batch that is a bomb costs only itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import CorruptRecordException
from aiokafka.structs import TopicPartition

from agents.commands.audit.command import account
from agents.commands.audit.hop import Range
from agents.commands.topics import apply
from agents.kafka.batches.fetching import RETURNED_BYTES
from agents.kafka.batches.limits import MIB, SKIPPED_BYTES
from agents.kafka.client import consumer, full_ranges, options, partitions, producer, read_records
from agents.kafka.partitions import partition_of
from agents.kafka.tables.restore import read_batches
from agents.normalize import Normalize
from agents.settings.job import Settings, SettingsError
from demo.kafka import Kafka
from models import clean_text
from models.dead_letter import DeadLetter
from tests.agents.batches import GZIP, ZSTD, Written, batch, bomb
from tests.agents.limits import GUARD, OF_WORKERS
from tests.agents.records import PARTITIONS, ReadAll, Run
from tests.agents.test_pipeline import page
from tests.agents.workers import idle, started, until, work
from tests.agents.workers import run as run_scenario

DOMAIN = b"example.org"
AT = partition_of(DOMAIN, PARTITIONS)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings with a new data directory."""
    return settings.model_copy(update={"data_dir": tmp_path})


def publish_batches(job: Settings, topic: str, *batches: bytes) -> None:
    """Publish batches as they are, to the partition of example.org."""
    asyncio.run(_publish_batches(job, topic, batches))


async def _publish_batches(job: Settings, topic: str, batches: Sequence[bytes]) -> None:
    async with producer(job) as client:
        for data in batches:
            builder = client.create_batch()
            builder.append(key=None, value=b"replaced", timestamp=None)
            builder._build = lambda data=data: data
            await (await client.send_batch(builder, job.topic(topic), partition=AT))


def urls(records: Sequence[Any]) -> list[str]:
    """Return the last parts of the URLs of clean texts, in order."""
    return sorted(clean_text.decode(record.value)["url"].rpartition("/")[2] for record in records)


def letters(records: Sequence[Any]) -> list[DeadLetter]:
    """Return dead letters in the order of their origins."""
    found = [DeadLetter.from_record(each.key, each.value, each.headers) for each in records]
    return sorted(found, key=lambda letter: int(letter.origin.rpartition("/")[2]))


@pytest.mark.kafka
def test_pages_of_every_codec_become_clean_text(job: Settings, read_all: ReadAll) -> None:
    """Aiokafka's producer compresses pages with each codec; all of them become clean text."""

    async def publish() -> None:
        for codec in ("gzip", "snappy", "lz4", "zstd"):
            client = AIOKafkaProducer(
                **options(job), compression_type=codec, linger_ms=50, request_timeout_ms=180_000
            )
            async with client:
                values = [page(f"{codec}-{number}") for number in range(3)]
                sent = [await client.send(job.topic("raw-html"), v, DOMAIN, AT) for v in values]
                await asyncio.gather(*sent)

    asyncio.run(publish())
    work(job)
    expected = [f"{codec}-{n}" for codec in ("gzip", "lz4", "snappy", "zstd") for n in range(3)]
    assert urls(read_all("clean-text")) == expected
    assert not asyncio.run(account(job)).missing


@pytest.mark.kafka
def test_a_bomb_is_a_dead_letter_and_pages_around_it_become_clean_text(
    job: Settings, read_all: ReadAll, run: Run
) -> None:
    """A record that unpacks to 200 MB has its own dead letter with its origin, without a value."""
    publish_batches(
        job,
        "raw-html",
        batch([Written(page("a"))]),
        bomb([Written(page("b")), Written(200_000_000, b"key"), Written(page("c"))], GZIP),
        batch([Written(page("d"))]),
    )
    work(job)
    assert urls(read_all("clean-text")) == ["a", "b", "c", "d"]
    (letter,) = letters(read_all("dead-letters"))
    origin = f"{job.topic('raw-html')}/{AT}/2"
    assert (letter.origin, letter.reason, letter.offsets) == (origin, "too-large", None)
    assert (letter.original.key, letter.original.value) == (b"key", None)
    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.clean_text, accounts.missing) == (5, 4, 0)
    assert accounts.dead_letters == {"too-large": 1}
    replayed = run("dead-letters", "replay", origin, "--yes")
    assert replayed.exit_code == 1
    assert "the value was too large to be kept" in replayed.stderr


@pytest.mark.kafka
def test_a_batch_that_cannot_be_read_further_is_one_dead_letter(
    job: Settings, read_all: ReadAll, run: Run
) -> None:
    """Its dead letter names the range of offsets, and the audit counts each of them."""
    half = Written(SKIPPED_BYTES // 2 + MIB)
    publish_batches(
        job,
        "raw-html",
        bomb([Written(page("a")), half, half, *[Written(page("lost"))] * 3], ZSTD),
        batch([Written(page("b"))]),
    )
    work(job)
    assert urls(read_all("clean-text")) == ["a", "b"]
    large, rest = letters(read_all("dead-letters"))
    assert (large.reason, large.offsets) == ("too-large", None)
    assert (rest.reason, rest.offsets) == ("unreadable", (2, 5))
    assert rest.original.value is None
    origin = f"{job.topic('raw-html')}/{AT}/2"
    assert rest.origin == origin

    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.clean_text, accounts.missing) == (7, 2, 0)
    assert accounts.dead_letters == {"too-large": 1, "unreadable": 4}
    within = asyncio.run(account(job, Range(AT, 3, 5)))
    assert (within.origins, within.dead_letters) == (2, {"unreadable": 2})

    shown = run("dead-letters", "show", origin)
    assert "offsets  2 to 5" in shown.stdout
    assert orjson.loads(run("dead-letters", "show", origin, "--json").stdout)["offsets"] == [2, 5]
    listed = run("dead-letters", "list", "--reason", "unreadable", env={"COLUMNS": "250"})
    assert "offsets 2 to 5: " in listed.stdout
    replayed = run("dead-letters", "replay", "--all", "--yes")
    assert replayed.exit_code == 1
    assert "the dead letter stands for the offsets 2 to 5" in replayed.stderr


@pytest.mark.kafka
def test_a_worker_that_begins_within_a_range_names_only_what_is_left(
    job: Settings, read_all: ReadAll
) -> None:
    """The range of a dead letter never begins before the committed offset."""
    half = Written(SKIPPED_BYTES // 2 + MIB)
    publish_batches(job, "raw-html", bomb([half, half, *[Written(b"lost")] * 3], ZSTD))
    group = f"{job.prefix}urltree-normalize"

    async def commit() -> None:
        async with consumer(job, group_id=group) as client:
            place = TopicPartition(job.topic("raw-html"), AT)
            client.assign([place])
            await client.commit({place: 3})

    asyncio.run(commit())
    work(job, Normalize)
    (letter,) = letters(read_all("dead-letters"))
    assert letter.offsets == (3, 4)
    assert letter.origin.endswith("/3")


@pytest.mark.kafka
def test_one_fetch_returns_few_bytes_of_large_records(job: Settings) -> None:
    """Of 200 records of 2 MiB that were compressed together, a fetch returns four."""
    publish_batches(job, "raw-html", bomb([Written(2 * MIB)] * 200, ZSTD))

    async def read() -> list[int]:
        counts = []
        async with consumer(job) as client:
            places = await partitions(client, job.topic("raw-html"))
            ranges = await full_ranges(client, places)
            client.assign(places)
            while sum(counts) < sum(end - first for first, end in ranges.values()):
                found = await client.getmany(timeout_ms=500, max_records=200)
                counts += [sum(map(len, found.values()))]
        return counts

    counts = asyncio.run(read())
    assert sum(counts) == 200
    assert max(counts) == RETURNED_BYTES // (2 * MIB)


@pytest.mark.kafka
def test_a_command_that_needs_every_row_ends_with_a_sentence(job: Settings, run: Run) -> None:
    """A row that cannot be read is not taken for a deleted one."""
    rows = "urltree-extract-rows-changelog"
    publish_batches(job, rows, bomb([Written(30 * MIB, b"example.org\0")], ZSTD))
    with pytest.raises(SettingsError) as caught:
        run("domain", "example.org")
    assert f"{job.topic(rows)}/{AT}: offset 0 cannot be read: the record has" in str(caught.value)


@pytest.mark.kafka
def test_a_restore_ends_at_a_row_that_it_cannot_read(job: Settings) -> None:
    """A row without its value would look like a deleted row."""
    rows = "urltree-extract-rows-changelog"
    publish_batches(job, rows, bomb([Written(30 * MIB, b"example.org\0")], ZSTD))

    async def restore() -> None:
        async for _ in read_batches(job, {TopicPartition(job.topic(rows), AT): (0, 1)}):
            raise AssertionError("the row was restored")

    with pytest.raises(CorruptRecordException, match="offset 0 cannot be read"):
        asyncio.run(restore())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "arguments"), [("cramjam", "worker normalize"), ("lz4", "audit")]
)
def test_a_missing_library_ends_with_a_sentence(library: str, arguments: str) -> None:
    """Worker and command end with exit code 2 at start, and name the library and the codec."""
    hidden = (
        "import sys, runpy, importlib, agents.kafka.client, urltree.pipeline\n"
        f"sys.modules[{library!r}] = None\n"
        f"sys.argv[1:] = {arguments.split()!r}\n"
        "runpy.run_module('agents', run_name='__main__', alter_sys=True)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", hidden],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "URLTREE_BROKERS": "127.0.0.1:1"},
        timeout=GUARD,
    )
    assert ended.returncode == 2, ended.stderr
    assert f"agents: the library {library} is missing, so records that" in ended.stderr


@pytest.mark.thorough
def test_a_batch_that_was_damaged_on_the_disk_of_a_broker(
    own_kafka: type[Kafka], tmp_path: Path
) -> None:
    """The pages before and after it become clean text, and its dead letter names its offsets."""
    with own_kafka(tmp_path / "kafka") as kafka:
        limits = {"brokers": kafka.brokers, "data_dir": tmp_path / "disk", **OF_WORKERS}
        job = Settings.model_validate(limits)
        asyncio.run(apply(job))
        pages = [Written(page(name)) for name in "bc"]
        publish_batches(
            job,
            "raw-html",
            batch([Written(page("a"))]),
            batch([Written(b"?" * 500), *pages]),
            batch([Written(page("d"))]),
        )
        kafka.stop()
        (log,) = (tmp_path / "kafka").glob(f"**/raw-html-{AT}/*.log")
        log.write_bytes(log.read_bytes().replace(b"?" * 500, b"!" * 500))
        kafka.restart()
        work(job)

        async def read() -> tuple[list[Any], list[Any]]:
            found: dict[str, list[Any]] = {"clean-text": [], "dead-letters": []}
            async with consumer(job) as client:
                for topic, records in found.items():
                    places = await partitions(client, topic)
                    ranges = await full_ranges(client, places)
                    records += [record async for record in read_records(client, ranges)]
            return found["clean-text"], found["dead-letters"]

        texts, dead = asyncio.run(read())
        assert urls(texts) == ["a", "d"]
        (letter,) = letters(dead)
        assert (letter.reason, letter.offsets) == ("unreadable", (1, 3))
        accounts = asyncio.run(account(job))
        assert (accounts.origins, accounts.missing) == (5, 0)
        assert accounts.dead_letters == {"unreadable": 3}


@pytest.mark.thorough
@pytest.mark.kafka
def test_a_worker_holds_few_records_of_a_batch(job: Settings) -> None:
    """Records that were unpacked wait in Kafka's form while the stage has enough bytes in memory.

    Faust's queue alone would hold 200 records of any size.
    """
    publish_batches(job, "raw-html", bomb([Written(MIB)] * 60, ZSTD))
    small = job.model_copy(update={"in_flight_bytes": MIB})
    resumed = asyncio.Event()

    class Waiting(Normalize):
        async def process(self, *arguments: Any) -> None:
            await resumed.wait()
            await super().process(*arguments)

    async def scenario() -> None:
        async with started(small, Waiting) as (stage,):
            held = stage.app.consumer._held

            def size() -> int:
                return sum(len(message.value or b"") for message in held if not message.acked)

            await until(lambda: size() > RETURNED_BYTES)
            await asyncio.sleep(1)  # a worker without a limit would read the other records
            assert size() <= 2 * RETURNED_BYTES + 2 * MIB
            resumed.set()
            await idle([stage])

    run_scenario(scenario())
    accounts = asyncio.run(account(job))
    assert (accounts.origins, accounts.dead_letters) == (60, {"malformed": 60})
