"""The command `round-trip` sends a page, waits for its clean text, and deletes the page.

If a stage does not process the page, the command names the problem.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from agents.commands.round_trip import round_trip
from agents.extract import Extract
from agents.kafka.delivery import OnFailure
from agents.normalize import Normalize
from agents.settings.job import Settings
from tests.agents.records import ReadAll, Run
from tests.agents.test_forget import TABLES, kept
from tests.agents.workers import BOTH, PATIENCE, idle, started, work
from tests.agents.workers import run as run_scenario
from urltree.document import Document
from urltree.heuristics.protocol import Verdict
from urltree.output.extraction import Extraction
from urltree.pipeline import Pipeline

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


class DroppingPipeline(Pipeline):
    """A faulty pipeline that marks all blocks of a page as boilerplate."""

    def extraction(self, document: Document, verdict: Verdict) -> Extraction:
        """Return the extraction of a document with all blocks marked as boilerplate."""
        every = (True,) * len(verdict.boilerplate)
        return super().extraction(document, replace(verdict, boilerplate=every))


class Dropping(Extract):
    """An extract worker that publishes clean text without text."""

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        super().__init__(settings, on_failure)
        self._pipeline = DroppingPipeline(settings.pipeline, settings.blocks)


def left(read_all: ReadAll) -> dict[str, int]:
    """Return the number of live records in each changelog and in clean-text."""
    return {name: len(kept(read_all(name))) for name in (*TABLES, "clean-text")}


def test_pages_come_through_at_the_same_time_and_leave_nothing(
    job: Settings, read_all: ReadAll, run: Run
) -> None:
    """Several round trips succeed at once, and leave nothing in tables, memory or clean-text."""

    async def scenario() -> None:
        async with started(job, *BOTH) as stages:
            trips = await asyncio.gather(*(round_trip(job, PATIENCE) for _ in range(4)))
            said = await asyncio.to_thread(run, "round-trip", "--wait", str(PATIENCE))
            await idle(stages)
            for stage in stages:
                assert stage.metrics.registry.get_sample_value("urltree_domains") == 0
        assert [(trip.forgotten, trip.trouble) for trip in trips] == [(True, None)] * 4
        assert len({trip.domain for trip in trips}) == 4
        assert all(trip.seconds for trip in trips)
        assert said.exit_code == 0
        assert "became clean text in" in said.stdout

    run_scenario(scenario())
    assert set(left(read_all).values()) == {0}
    assert len(read_all("clean-text")) >= 5


def test_without_workers_it_is_said_where_the_page_stays(
    job: Settings, read_all: ReadAll, run: Run
) -> None:
    """Without workers, `round-trip` names the stage at which the page waits, and exits with 1.

    Workers that start later process the page and delete it.
    """
    result = run("round-trip", "--wait", "0.5", "--json")
    assert result.exit_code == 1
    found = orjson.loads(result.stdout)
    assert (found["seconds"], found["forgotten"]) == (None, False)
    assert "normalize has not processed the page yet: it is offset 0 in " in found["trouble"]
    assert found["trouble"].endswith("0 worker(s) of the stage are running")

    async def to_documents() -> None:
        async with started(job, Normalize):
            trouble, wait = "", 1.0
            while "extract has not processed the page yet: it is offset " not in trouble:
                trouble = (await round_trip(job, wait)).trouble or ""
                wait *= 2  # give `normalize` more time

    run_scenario(to_documents())
    work(job)
    assert set(left(read_all).values()) == {0}


def test_a_dead_letter_is_an_answer_too(job: Settings) -> None:
    """If the page becomes a dead letter, `round-trip` reports the reason without more waiting."""

    async def scenario() -> None:
        strict = job.model_copy(update={"max_page_bytes": 100})
        async with started(strict, *BOTH):
            trip = await round_trip(job, PATIENCE)
        assert (trip.seconds, trip.forgotten) == (None, True)
        assert "a dead letter of normalize, too-large: " in (trip.trouble or "")

    run_scenario(scenario())


def test_text_without_the_pages_main_text_is_not_enough(job: Settings, read_all: ReadAll) -> None:
    """If the clean text lacks the main text, `round-trip` reports it and deletes the page."""

    async def scenario() -> None:
        async with started(job, Normalize, Dropping):
            trip = await round_trip(job, PATIENCE)
        assert (trip.seconds is not None, trip.forgotten) == (True, True)
        assert "the clean text lacks 'This page was " in (trip.trouble or "")

    run_scenario(scenario())
    assert set(left(read_all).values()) == {0}
