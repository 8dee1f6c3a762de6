"""Errors while a record is processed: who is at fault decides what happens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents.extract import Extract
from agents.kafka.delivery import Work
from agents.normalize import Normalize
from agents.settings.job import Settings
from models import clean_text
from models.dead_letter import DeadLetter
from tests.agents.records import Publish, ReadAll
from tests.agents.test_pipeline import page, raw
from tests.agents.workers import PATIENCE, run, started, until, work
from urltree.site.row import RowError

pytestmark = pytest.mark.kafka


@pytest.fixture
def job(job: Settings, tmp_path: Path) -> Settings:
    """Return a job whose worker has a disk of its own."""
    return job.model_copy(update={"data_dir": tmp_path})


class Failing(Extract):
    """Stage that fails on one record after learning and storing it, a given number of times."""

    times = 1
    error: type[Exception] = ValueError

    async def take(self, message: Any, origin: str, work: Work) -> None:
        """Fail after the work on page b."""
        await super().take(message, origin, work)
        if b"example.org/b" in message.value and self.times:
            self.times -= 1
            raise self.error("a bug")


class FailingTwice(Failing):
    """Stage that also fails at the second attempt."""

    times = 2


class FailingForGood(Failing):
    """Stage that fails as with a damaged row, which is not the page's fault."""

    error = RowError


def test_an_unexpected_error_drops_the_tree_and_the_record_is_tried_once_more(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """The second attempt is a replay of what the first one stored, so the text is the same."""
    publish(*(raw(page(name)) for name in "abc"))
    _, extract = work(job, Normalize, Failing)
    texts = [(r.key, r.value) for r in read_all("clean-text")]
    assert len(texts) == 4
    assert len(set(texts)) == 3
    assert not read_all("dead-letters")
    assert extract.metrics.rebuilds._value.get() == 2


def test_a_record_that_fails_twice_is_a_dead_letter_and_stops_no_other(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """It is kept with its bytes, so that it can be replayed after a fix."""
    publish(*(raw(page(name)) for name in "abc"))
    work(job, Normalize, FailingTwice)
    (record,) = read_all("dead-letters")
    letter = DeadLetter.from_record(record.key, record.value, record.headers)
    assert (letter.stage, letter.reason) == ("extract", "internal")
    assert letter.origin in {clean_text.decode(r.value)["origin"] for r in read_all("clean-text")}
    assert clean_text.decode(read_all("clean-text")[-1].value)["url"] == "https://example.org/c"


def test_what_is_ours_to_mend_ends_the_worker_and_commits_nothing(
    job: Settings, publish: Publish
) -> None:
    """A row that this release cannot read is not the page's fault; a later replay recovers."""
    publish(raw(page("b")))

    async def scenario() -> None:
        failures: list[BaseException] = []
        stage = FailingForGood(job, failures.append)
        await stage.app.start()
        async with started(job, Normalize):
            await until(lambda: bool(failures))
        assert isinstance(failures[0], RowError)
        assert not any(stage.app.consumer._confirmed.values())
        assert stage.delivery.stalled_for() < PATIENCE
        stage.delivery.clear()
        await asyncio.wait_for(stage.app.stop(), PATIENCE)

    run(scenario())
