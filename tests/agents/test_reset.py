"""The command `reset` deletes the state of a stage, but never while one of its workers runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from agents.commands.reset import plan, reset, wait
from agents.normalize import Normalize
from agents.settings.job import Settings, SettingsError
from models import raw_html
from tests.agents.records import Publish, ReadAll, Run, Sent
from tests.agents.workers import started, work
from urltree.page import Page

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings with a new data directory, which both workers and commands use."""
    monkeypatch.setenv("URLTREE_DATA_DIR", str(tmp_path))
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(path: str) -> Sent:
    """Return the record of a page of example.org."""
    value = raw_html.encode(Page(url=f"https://example.org/{path}", html=f"<p>Text of {path}</p>"))
    return Sent("raw-html", b"example.org", value)


def last(records: list[Any]) -> dict[bytes, bytes]:
    """Return the last value of each key, as compaction would keep it."""
    return {record.key: record.value for record in records}


def test_a_stage_is_reset_and_comes_to_the_same_end(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """A reset deletes a stage's rows; then the stage reads its input again with the same result.

    The rows of other stages stay on the disk, and a second reset writes nothing.
    """
    publish(page("a"), page("b"))
    work(job)
    tables = [f"urltree-extract-{name}-changelog" for name in ("rows", "first")]
    before = last(read_all("clean-text"))
    done = orjson.loads(run("reset", "extract", "--yes", "--json").stdout)
    assert (done["rows"], done["members"], done["done"]) == (4, 0, True)
    assert done["disks"]
    assert not any(Path(disk).exists() for disk in done["disks"])
    assert list(job.data_dir.glob("*/tables/seen-*"))
    assert [set(last(read_all(table)).values()) for table in tables] == [{None}, {None}]
    written = [len(read_all(table)) for table in tables]
    assert orjson.loads(run("reset", "extract", "--yes", "--json").stdout)["rows"] == 0
    assert [len(read_all(table)) for table in tables] == written
    work(job)
    assert last(read_all("clean-text")) == before
    assert len(read_all("clean-text")) == 4
    assert not any(None in last(read_all(table)).values() for table in tables)


def test_a_reset_says_what_it_would_do(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """Without --yes, `reset` prints what it would delete, changes nothing, and exits with 1."""
    publish(page("a"))
    work(job)
    result = run("reset", "normalize")
    assert result.exit_code == 1
    assert "2 rows" not in result.stdout
    assert "1 rows to delete" in result.stdout
    assert "Nothing was done" in result.stdout
    assert None not in last(read_all("urltree-normalize-seen-changelog")).values()


def test_a_running_worker_is_never_reset(job: Settings) -> None:
    """A reset is refused while a worker runs, even if it started after the reset was planned."""

    async def scenario() -> None:
        early = await plan(job, "normalize")
        async with started(job, Normalize):
            steps = await plan(job, "normalize")
            assert steps.members == 1
            with pytest.raises(SettingsError, match=r"normalize has 1 running worker\(s\)"):
                await reset(job, steps)
            with pytest.raises(SettingsError, match="was started in the meantime"):
                await reset(job, early)

    asyncio.run(scenario())


def test_a_reset_waits_for_the_session_of_a_worker_that_has_ended(
    job: Settings, publish: Publish, run: Run
) -> None:
    """`reset --wait` waits for the session of a stopped worker to end.

    A worker with an `instance_id` remains a member of its group until its session ends.
    """
    static = job.model_copy(update={"instance_id": "normalize-0", "session_seconds": 30.0})
    publish(page("a"))
    work(static, Normalize)
    assert asyncio.run(plan(job, "normalize")).members == 1
    result = run("reset", "normalize", "--yes", "--wait", "180", "--json")
    assert result.exit_code == 0
    assert orjson.loads(result.stdout)["rows"] == 1


def test_a_reset_waits_no_longer_than_it_is_told(job: Settings) -> None:
    """If a worker still runs after the seconds of --wait, the command fails without a change."""

    async def scenario() -> None:
        async with started(job, Normalize):
            with pytest.raises(
                SettingsError, match=r"still has 1 running worker\(s\) after 1 s: stop all"
            ):
                await wait(job, "normalize", 1)

    asyncio.run(scenario())
