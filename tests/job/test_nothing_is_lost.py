"""A storm of ten kills (SIGKILL) and a frozen worker, in which nothing is lost.

URLTREE_STORMS=N runs N storms, each with its own seed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import orjson
import pytest

from agents.kafka.tables.table import row_key
from demo.kafka import Kafka
from tests.conftest import Record
from tests.job.harness import Job, Worker
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
FULL = ("seen", "rows")  # `first` is empty at the end, because each site has at least 20 pages


@dataclass
class Aftermath:
    """A job after a storm, when all its workers were stopped by SIGTERM.

    Attributes:
        seconds: duration of the storm in seconds.
        outcomes: everything that the job published.
        restored: stages whose workers have restored all partitions on their old disks.
    """

    job: Job
    storm: Storm
    seconds: float
    outcomes: Outcomes
    restored: set[str] = field(default_factory=set)

    def workers(self, table: str) -> list[Worker]:
        """Return the workers of the table's stage, after each has restored all partitions."""
        stage = TABLES[table]
        workers = [worker for worker in self.storm.workers if worker.stage == stage]
        if stage not in self.restored:
            for worker in workers:
                worker.work_here()
            self.restored.add(stage)
        return workers


@pytest.fixture(scope="module", params=SEEDS)
def aftermath(
    request: pytest.FixtureRequest,
    own_kafka: type[Kafka],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Aftermath]:
    """Run a storm, stop its workers, and yield the job."""
    settings = {
        "max_documents": EVICTION.max_documents,
        "max_age_days": EVICTION.max_age // DAY,
        "keep": EVICTION.keep,
    }
    with (
        own_kafka() as kafka,
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
    """No page is missing, by the test's count and by the audit's.

    Every outcome belongs to a published page.
    """
    found = aftermath.outcomes
    record(
        f"storm of workers: {len(found.pages)} pages, {KILLS} kills, a worker frozen for "
        f"{aftermath.storm.frozen_for:.1f} s, {aftermath.seconds:.0f} s in all: "
        f"{len(found.missing)} missing; {found.of('clean-text')} clean texts, "
        f"{found.of('duplicates')} duplicates, {found.of('dead-letters')} dead letters"
    )
    assert len(found.pages) == DOCUMENTS
    assert not found.missing
    assert found.said.keys() == found.pages
    assert aftermath.job.audit().missing == 0


def test_an_output_repeats_only_under_its_key(aftermath: Aftermath, record: Record) -> None:
    """An output is repeated only with the same key.

    Its value is also the same, unless the page has left its window, because such a page is judged
    again.
    """
    found = aftermath.outcomes
    gone = evicted(aftermath.job)
    stayed = [origin for origin in found.changed if not _keys(found, origin) & gone]
    record(
        f"storm of workers: {found.repeats} outputs repeated, {len(found.changed)} pages with "
        f"another value, {len(stayed)} of them had not left their window"
    )
    twice = {origin for origin in found.said if len(found.places(origin)) > 1}
    assert {origin: found.places(origin) for origin in twice - _replaced(found, twice)} == {}
    assert stayed == []


def _replaced(found: Outcomes, origins: Iterable[str]) -> set[str]:
    """Return the pages that were read again after a later copy had replaced them in `seen`.

    A page that is older than the horizon of `seen` is deleted from it, so a later copy counts as a
    new page. If the old page is read again after that, it becomes a duplicate of its copy, although
    it already has a clean text. Its first outcome is no longer stored, and to publish nothing could
    lose the page.
    """
    return {
        origin
        for origin in origins
        for topic, _, value in found.said[origin]
        if topic == "duplicates" and is_older(origin, None, orjson.loads(value)["first_origin"], 0)
    }


def test_every_tree_equals_its_recount(aftermath: Aftermath, record: Record) -> None:
    """The trees that are made from the rows of the changelog equal a plain recount.

    A later test shows that the disks equal the changelog.
    """
    rows = in_changelog(aftermath.job, "rows")
    trees = assert_trees_equal_recount(aftermath.job, rows, EVICTION)
    record(
        f"storm of workers: {trees.number} trees of {count(rows)} rows equal their recount, "
        f"0 differences; {trees.left_behind} rows outside a window, found by its rebuild"
    )
    assert trees.number > 0


@pytest.mark.parametrize("table", TABLES)
def test_every_disk_equals_the_changelog(aftermath: Aftermath, table: str) -> None:
    """A worker that restores all partitions on its old disk has exactly the changelog's rows."""
    workers = aftermath.workers(table)
    wanted = in_changelog(aftermath.job, table)
    for worker in workers:
        assert differing(on_disk(worker, table), wanted) == [], worker.name


def test_every_first_page_is_revised_and_kept_no_longer(
    aftermath: Aftermath, record: Record
) -> None:
    """Each first page was revised, each revision was published, and the table `first` is empty."""
    rows = [Row.decode(r) for p in in_changelog(aftermath.job, "rows").values() for r in p.values()]
    revised = [row.origin for row in rows if row.revised]
    said = {value["origin"] for value in clean_texts(aftermath.job) if value["revision"]}
    record(
        f"storm of workers: {len(said)} pages were revised among the kills, "
        f"{len(revised)} of them are still in a window"
    )
    assert count(in_changelog(aftermath.job, "first")) == 0
    assert set(revised) <= said
    assert not any(row.waits for row in rows)


@pytest.mark.parametrize("table", FULL)
def test_tables_restored_from_changelogs_alone_equal_the_former(
    aftermath: Aftermath, record: Record, table: str
) -> None:
    """A worker whose disk was deleted restores the same rows from the changelog alone."""
    worker = aftermath.workers(table)[0]
    former = on_disk(worker, table)
    worker.wipe()
    worker.work_here()
    restored = on_disk(worker, table)
    differ = differing(restored, former)
    record(
        f"storm of workers: table {table}: {count(restored)} rows restored from the changelog "
        f"alone, {len(differ)} differ from the former {count(former)}"
    )
    assert count(restored) > 0
    assert differ == []


def _keys(found: Outcomes, origin: str) -> set[bytes]:
    """Return the keys of a page's rows, from the page's clean texts."""
    values = [orjson.loads(value) for topic, _, value in found.said[origin] if topic == CLEAN_TEXT]
    return {row_key(value["domain"], bytes.fromhex(value["id"])) for value in values}
