"""Row 6 of issue 3: ten kills -9 and a frozen worker, and nothing is lost.

URLTREE_STORMS=N plays N of them, each with a seed of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import orjson
import pytest

from agents.kafka.tables.table import row_key
from demo.kafka import Kafka
from tests.conftest import Record
from tests.job.harness import Job, Worker, wait_until
from tests.job.kafka_records import PARTITIONS
from tests.job.outcomes import Outcomes, clean_texts, outcomes
from tests.job.state import (
    assert_trees_equal_recount,
    count,
    differing,
    evicted,
    in_changelog,
    on_disk,
)
from tests.job.storm import Storm
from urltree.site.revisits import is_older
from urltree.site.row import Row
from urltree.tree.window import DAY, Eviction

DOCUMENTS = 5_000
KILLS = 10
SEEDS = range(1, 1 + int(os.environ.get("URLTREE_STORMS", "1")))
EVICTION = Eviction(max_documents=300, max_age=10 * DAY, keep=100)
CLEAN_TEXT = "clean-text"
TABLES = {"seen": "normalize", "rows": "extract", "first": "extract"}
FULL = ("seen", "rows")  # tables that still hold something: each site has 20 pages


@dataclass
class Aftermath:
    """What a storm has left: workers that have stopped in order, and what they said."""

    job: Job
    storm: Storm
    seconds: float
    outcomes: Outcomes

    def workers(self, table: str) -> list[Worker]:
        """Those of the stage that has this table."""
        return [worker for worker in self.storm.workers if worker.stage == TABLES[table]]


@pytest.fixture(scope="module", params=SEEDS)
def aftermath(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Aftermath]:
    """A storm that is over."""
    settings = {
        "max_documents": EVICTION.max_documents,
        "max_age_days": EVICTION.max_age // DAY,
        "keep": EVICTION.keep,
    }
    with (
        Kafka() as kafka,
        Job(kafka.brokers, "", tmp_path_factory.mktemp("storm"), **settings) as job,
    ):
        storm = Storm(kafka, job, request.param)
        started = time.monotonic()
        storm.blow(DOCUMENTS, KILLS)
        seconds = time.monotonic() - started
        for worker in storm.workers:
            worker.stop()
        yield Aftermath(job, storm, seconds, outcomes(job))


def test_every_page_has_an_outcome(aftermath: Aftermath, record: Record) -> None:
    """No page is missing, by our own count and by the audit's, and none is said to be two."""
    found = aftermath.outcomes
    record(
        f"row 6: {len(found.pages)} pages, {KILLS} kills -9, a worker frozen for "
        f"{aftermath.storm.frozen_for:.1f} s, {aftermath.seconds:.0f} s in all: "
        f"{len(found.missing)} missing; {found.of('clean-text')} clean texts, "
        f"{found.of('duplicates')} duplicates, {found.of('dead-letters')} dead letters"
    )
    assert len(found.pages) == DOCUMENTS
    assert not found.missing
    assert found.said.keys() == found.pages
    assert aftermath.job.command("audit")["missing"] == 0


def test_an_output_repeats_only_under_its_key(aftermath: Aftermath, record: Record) -> None:
    """And with the same value, unless the page had left its window: then it is judged anew."""
    found = aftermath.outcomes
    gone = evicted(aftermath.job)
    stayed = [origin for origin in found.changed if not _keys(found, origin) & gone]
    record(
        f"row 6: {found.repeats} outputs repeated, {len(found.changed)} pages with another value, "
        f"{len(stayed)} of them had not left their window"
    )
    twice = {origin for origin in found.said if len(found.places(origin)) > 1}
    assert {origin: found.places(origin) for origin in twice - _replaced(found, twice)} == {}
    assert stayed == []


def _replaced(found: Outcomes, origins: Iterable[str]) -> set[str]:
    """Those of them that were read again after a later page had taken their place in `seen`.

    A page that is past the horizon is unseen: a later copy is new and takes its place. Read again
    after that, the page is a duplicate of its copy, beside the clean text that it had. What was
    said first is not known any more, and to say nothing might lose it.
    """
    return {
        origin
        for origin in origins
        for topic, _, value in found.said[origin]
        if topic == "duplicates" and is_older(origin, None, orjson.loads(value)["first_origin"], 0)
    }


def test_every_tree_equals_its_recount(aftermath: Aftermath, record: Record) -> None:
    """Made from the rows that the changelog keeps; the disks equal it, see below."""
    rows = in_changelog(aftermath.job, "rows")
    trees = assert_trees_equal_recount(aftermath.job, rows, EVICTION)
    record(
        f"row 6: {trees.number} trees of {count(rows)} rows equal their recount, 0 differences; "
        f"{trees.left_behind} rows outside a window, named by its rebuild"
    )
    assert trees.number > 0


@pytest.mark.parametrize("table", TABLES)
def test_every_disk_equals_the_changelog(aftermath: Aftermath, table: str) -> None:
    """Each worker gets all partitions on its old disk: no hole, and no row that nobody knows of."""
    wanted = in_changelog(aftermath.job, table)
    for worker in aftermath.workers(table):
        _restore(worker, table)
        assert differing(on_disk(worker, table), wanted) == [], worker.name


def test_every_first_page_is_revised_and_kept_no_longer(
    aftermath: Aftermath, record: Record
) -> None:
    """Rows of both verdicts, each said: no kill has come between."""
    rows = [Row.decode(r) for p in in_changelog(aftermath.job, "rows").values() for r in p.values()]
    revised = [row.origin for row in rows if row.revised]
    said = {value["origin"] for value in clean_texts(aftermath.job) if value["revision"]}
    record(f"issue 6: {len(said)} pages were revised among the kills, {len(revised)} still known")
    assert count(in_changelog(aftermath.job, "first")) == 0
    assert set(revised) <= said
    assert not any(row.waits for row in rows)


@pytest.mark.parametrize("table", FULL)
def test_tables_restored_from_changelogs_alone_equal_the_former(
    aftermath: Aftermath, record: Record, table: str
) -> None:
    """Every disk is deleted; a worker restores all partitions."""
    worker = aftermath.workers(table)[0]
    former = on_disk(worker, table)
    worker.wipe()
    _restore(worker, table)
    restored = on_disk(worker, table)
    differ = differing(restored, former)
    record(
        f"row 6: table {table}: {count(restored)} rows restored from the changelog alone, "
        f"{len(differ)} differ from the former {count(former)}"
    )
    assert count(restored) > 0
    assert differ == []


def _restore(worker: Worker, table: str) -> None:
    """Let it have all partitions, and stop."""
    worker.start()
    wait_until(lambda: len(worker.open_partitions(table)) == PARTITIONS, "all partitions")
    worker.wait_ready()
    worker.stop()


def _keys(found: Outcomes, origin: str) -> set[bytes]:
    """Keys of a page's rows."""
    values = [orjson.loads(value) for topic, _, value in found.said[origin] if topic == CLEAN_TEXT]
    return {row_key(value["domain"], bytes.fromhex(value["id"])) for value in values}
