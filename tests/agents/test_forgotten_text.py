"""The text of a forgotten page leaves the files of Kafka and of the workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agents.commands.forget import forget, resolve
from agents.commands.topics import apply
from agents.settings.job import Settings
from demo.kafka import Kafka, Security
from models import raw_html
from models.dead_letter import DeadLetter, Record
from tests.agents.limits import GUARD
from tests.agents.records import Publish, ReadAll, Sent
from tests.agents.workers import BOTH, PATIENCE, started, work
from urltree.page import Page, Reason

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

TOPICS = Path(__file__).parents[2] / "topics.yaml"
TEXT = b"Words of the forgotten page"
TIMES = ("segment.ms", "retention.ms", "max.compaction.lag.ms")

# The broker looks for old and for compactable segments more often than by default.
CHECKS = """
log.retention.check.interval.ms=500
log.cleaner.backoff.ms=200
"""


@pytest.fixture
def broker(own_kafka: type[Kafka]) -> Iterator[Kafka]:
    """Yield a broker that deletes and compacts soon."""
    with own_kafka(security=Security(config=CHECKS)) as running:
        yield running


@pytest.fixture
def kafka(broker: Kafka) -> str:
    """Return the broker of this test instead of the shared one."""
    return broker.brokers


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def files_with(directory: Path, wanted: bytes) -> list[str]:
    """Return the names of the files that contain some bytes."""
    found = []
    for path in sorted(directory.rglob("*")):
        try:
            if path.is_file() and "index" not in path.name and wanted in path.read_bytes():
                found.append(str(path.relative_to(directory)))
        except FileNotFoundError:
            continue  # Kafka deleted the segment in the meantime
    return found


def in_a_second(job: Settings, tmp_path: Path) -> Settings:
    """Return settings with a topics.yaml whose times are one second."""
    file = yaml.safe_load(TOPICS.read_text())
    for fields in (file["defaults"], *file["topics"]):
        config = fields.get("config", {})
        config.update({name: "1000" for name in TIMES if name in config})
    path = tmp_path / "topics.yaml"
    path.write_text(yaml.safe_dump(file))
    return job.model_copy(update={"topics_file": path})


def topics_of(names: list[str], job: Settings) -> set[str]:
    """Return the names of the topics, without prefix, to which segment files belong."""
    folders = {Path(name).parent.name for name in names}
    return {folder.rpartition("-")[0].removeprefix(job.prefix) for folder in folders}


def test_the_text_of_a_forgotten_page_leaves_all_files(
    job: Settings, broker: Kafka, publish: Publish, read_all: ReadAll, tmp_path: Path
) -> None:
    """The files of the workers have no row of the page when the command is answered.

    The text leaves the segments of Kafka after the times in topics.yaml, here one second. A
    partition of a compacted topic needs a later record, because Kafka compacts no active segment.
    """
    value = raw_html.encode(Page(url="https://example.org/a", html=f"<p>{TEXT.decode()}</p>"))
    publish(Sent("raw-html", b"example.org", value))
    original = Record(b"example.org", value, ())
    letter = DeadLetter(
        "raw-html/0/9", "extract", Reason.INTERNAL, "m", job.topic("raw-html"), original
    ).to_record()
    publish(Sent("dead-letters", letter.key, letter.value, letter.headers))
    work(job)
    (first,) = [record.value for record in read_all("urltree-extract-first-changelog")]
    assert len(files_with(job.data_dir, first)) == 1
    log = broker.directory / "data"
    holds = {"raw-html", "documents", "clean-text", "dead-letters"}
    assert topics_of(files_with(log, TEXT), job) == holds

    async def scenario() -> None:
        async with started(job, *BOTH):
            command = await resolve(job, "example.org")
            assert (await forget(job, command, PATIENCE)).answered
            assert files_with(job.data_dir, first) == []

    asyncio.run(scenario())
    asyncio.run(apply(in_a_second(job, tmp_path)))
    until = time.monotonic() + GUARD
    while (left := files_with(log, TEXT) + files_with(log, first)) and time.monotonic() < until:
        for record in read_all("clean-text")[:1]:
            publish(Sent("clean-text", b"tick", b"{}", partition=record.partition))
        place = next(iter(read_all("urltree-extract-rows-changelog"))).partition
        publish(Sent("urltree-extract-first-changelog", b"tick", b"", partition=place))
        time.sleep(0.5)
    assert left == []
