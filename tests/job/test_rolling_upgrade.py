"""A rolling upgrade from a former release, back, and up again, while pages are published.

The former release is a commit of this repository. Its workers run from an export of its files, with
the dependencies of the present environment. The test is skipped where the commit cannot be had, for
example in a shallow clone or in an archive of the sources.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

import pytest

from demo.child import ChildProcess
from tests.conftest import Record
from tests.job.harness import PATIENCE, ROOT, Job, Worker
from tests.job.kafka_records import keyed
from tests.job.outcomes import outcomes
from tests.job.pages import pages
from tests.job.state import assert_trees_equal_recount, differing, in_changelog, on_disk
from tests.job.test_same_everywhere import of_job, outcomes_of_library
from urltree.page import Page
from urltree.site.row import Row
from urltree.site.seen import Seen

FORMER = "f2afa4d16193dbd829b68df679fccdc18316c6fa"
"""The release from which workers are upgraded. At a release, put the commit of its tag here in the
first commit after it; if the new release cannot be left again, say so in CHANGELOG.md and remove
the steps back from `STEPS` until the next release."""

PAGES = 1_200
SLICE = 10  # pages that are published at once
PAUSE = 0.5  # seconds between two slices, until all workers were replaced
LAST = 200  # pages that are published after that
SETTINGS = {"evict": False, "markdown": True, "metadata": True}

PRESENT, OLD = "present", "former"
# The worker that is replaced, and the release that it runs afterwards.
STEPS = (
    ("normalize-0", PRESENT),
    ("extract-0", PRESENT),
    ("extract-1", PRESENT),
    ("normalize-1", PRESENT),
    ("extract-0", OLD),
    ("normalize-0", OLD),
    ("normalize-0", PRESENT),
    ("extract-0", PRESENT),
)

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the files of the former release."""
    git = ["git", "-C", str(ROOT), "archive", "--format=tar", FORMER]
    try:
        exported = subprocess.run(git, capture_output=True, check=True, timeout=PATIENCE)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"").decode(errors="replace").strip()
        pytest.skip(f"the former release, commit {FORMER[:7]}, is not here: {said or error}")
    directory = tmp_path_factory.mktemp("former")
    with tarfile.open(fileobj=io.BytesIO(exported.stdout)) as files:
        files.extractall(directory, filter="data")
    return directory


class FormerWorker(Worker):
    """A worker of the former release, on the disk of the worker with the same name."""

    code: Path

    def start(self, *, wait: bool = True) -> Self:
        """Start the process from the files of the former release."""
        own = {
            "URLTREE_SESSION_SECONDS": str(self.session),
            "URLTREE_DATA_DIR": str(self.disk),
            "URLTREE_WEB_PORT": str(self.port),
            "URLTREE_CONTACT": self.name,
        }
        self._child = ChildProcess(
            [*program(), "worker", self.stage],
            self.job.directory / f"{self.name}.log",
            environment(self.code, self.job.environment | own),
        )
        if wait:
            self.wait_ready()
        return self


def program() -> list[str]:
    """Return the command. With -P, Python does not import from the working directory."""
    return [sys.executable, "-P", "-m", "agents"]


def environment(code: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that runs the release in a directory."""
    return {**os.environ, **more, "PYTHONPATH": str(code)}


def apply_topics(job: Job, code: Path) -> None:
    """Run `topics apply` of the release in a directory, as the document of upgrades asks."""
    done = subprocess.run(
        [*program(), "topics", "apply"],
        env=environment(code, job.environment),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


class Traffic(threading.Thread):
    """Publish pages in slices, with pauses; the last pages wait until `hurry` is set.

    Attributes:
        origins: origins of the published pages.
    """

    def __init__(self, job: Job, made: list[Page]) -> None:
        super().__init__(daemon=True)
        self._job, self._made = job, made
        self.origins: list[str] = []
        self.hurry = threading.Event()

    def run(self) -> None:
        """Publish all pages."""
        for start in range(0, len(self._made), SLICE):
            self.origins += self._job.publish(map(keyed, self._made[start : start + SLICE]))
            left = len(self._made) - len(self.origins)
            self.hurry.wait(PAUSE if left > LAST else None)


class Upgrade:
    """A job whose workers are replaced one after the other; each keeps its name and its disk."""

    def __init__(self, job: Job, code: Path) -> None:
        self.job = job
        self._code = {PRESENT: ROOT, OLD: code}
        self._running: dict[str, Worker] = {}
        self._topics = ""

    def run(self, name: str, release: str) -> None:
        """Stop the worker of this name, and start one of a release, after its `topics apply`."""
        if name in self._running:
            self._running[name].stop()
        if release != self._topics:
            apply_topics(self.job, self._code[release])
            self._topics = release
        stage = name.partition("-")[0]
        worker: Worker
        if release == OLD:
            worker = FormerWorker(self.job, stage, name)
            worker.code = self._code[OLD]
            self.job.workers.append(worker)
        else:
            worker = self.job.worker(stage, name)
        self._running[name] = worker.start()

    def stop(self) -> list[Worker]:
        """Stop all workers and return them."""
        for worker in self._running.values():
            worker.stop()
        return list(self._running.values())


@pytest.fixture
def job(kafka: str, prefix: str, tmp_path: Path) -> Iterator[Job]:
    """Yield a job without topics, which the former release then creates."""
    job = Job(kafka, prefix, tmp_path, **SETTINGS)
    yield job
    for worker in job.workers:
        worker.kill()


def test_the_former_code_runs(former: Path) -> None:
    """The processes of former workers import the former release, and not the present one."""
    asked = [*program()[:2], "-c", "import agents; print(agents.__file__)"]
    found = subprocess.run(
        asked, env=environment(former, {}), capture_output=True, check=True, timeout=PATIENCE
    )
    assert found.stdout.decode().startswith(str(former))


def test_workers_are_replaced_while_pages_go_on(former: Path, job: Job, record: Record) -> None:
    """Nothing is lost, every text equals the library's, and every row can be read by both releases.

    Old and new workers of both stages work side by side, and take over each other's disks.
    """
    made = pages(PAGES, seed=11)
    upgrade = Upgrade(job, former)
    for name in ("normalize-0", "normalize-1", "extract-0", "extract-1"):
        upgrade.run(name, OLD)
    traffic = Traffic(job, made)
    traffic.start()
    for name, release in STEPS:
        upgrade.run(name, release)
    at_the_last_step = len(traffic.origins)
    traffic.hurry.set()
    traffic.join()
    job.wait_through()
    workers = upgrade.stop()

    library = outcomes_of_library(made, eviction=None)
    found = of_job(job, traffic.origins)
    differ = [n for n, said in library.outcomes.items() if found.get(n) != said]
    rows, seen = in_changelog(job, "rows"), in_changelog(job, "seen")
    for partition in rows.values():
        for row in partition.values():
            assert Row.decode(row).encode() == row
    for partition in seen.values():
        for stored in partition.values():
            assert Seen.decode(stored).encode() == stored
    trees = assert_trees_equal_recount(job, rows, None)
    for worker in workers:
        worker.work_here()  # restores all partitions on a disk that both releases wrote
        table, wanted = ("rows", rows) if worker.stage == "extract" else ("seen", seen)
        assert differing(on_disk(worker, table), wanted) == [], worker.name
    audit = job.audit()
    record(
        f"rolling upgrade from {FORMER[:7]}: {len(STEPS)} workers replaced, there, back and there "
        f"again, {at_the_last_step} of {PAGES} pages published before the last; {audit.missing} "
        f"missing, {outcomes(job).repeats} outputs repeated, {len(differ)} pages differ from the "
        f"library; {trees.number} trees equal their recount"
    )
    assert audit.missing == 0
    assert found.keys() == library.outcomes.keys()
    assert differ == []
