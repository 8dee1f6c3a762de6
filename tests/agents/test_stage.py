"""An unexpected error causes a retry and then a dead letter; damaged state ends the worker."""

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
    """Return settings of a job whose worker has its own data directory."""
    return job.model_copy(update={"data_dir": tmp_path})


class Failing(Extract):
    """Stage `extract` that stores page b and then fails, at its first `times` attempts."""

    times = 1
    error: type[Exception] = ValueError

    async def take(self, message: Any, origin: str, work: Work) -> None:
        """Process a record; then fail if it is page b."""
        await super().take(message, origin, work)
        if b"example.org/b" in message.value and self.times:
            self.times -= 1
            raise self.error("a bug")


class FailingTwice(Failing):
    """Stage that fails at the first and the second attempt."""

    times = 2


class FailingForGood(Failing):
    """Stage that fails with RowError, the error of a damaged row."""

    error = RowError


def test_an_unexpected_error_drops_the_tree_and_the_record_is_tried_once_more(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After an unexpected error, the domain's tree is dropped and the record is tried again.

    The first attempt has stored the page, so the second one is a replay with the same text.
    """
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
    """A record that fails twice becomes a dead letter, and later records are processed.

    The dead letter contains the bytes of the record, so it can be replayed after a fix.
    """
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
    """An error in the job's own state, such as a damaged row, ends the worker without a commit.

    So the page is processed again when the error is corrected.
    """
    publish(raw(page("b")))

    async def scenario() -> None:
        failures: list[BaseException] = []
        stage = FailingForGood(job, failures.append)
        await stage.app.start()
        async with started(job, Normalize):
            await until(lambda: bool(failures))
        assert isinstance(failures[0], RowError)
        assert not any(stage.app.consumer.progress.confirmed.values())
        assert stage.delivery.stalled_for() < PATIENCE
        stage.delivery.clear()
        await asyncio.wait_for(stage.app.stop(), PATIENCE)

    run(scenario())
