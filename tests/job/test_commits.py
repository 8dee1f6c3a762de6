"""Row 8 of issue 3: commits go on under any load, and a restart replays what was not committed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import pytest

from models import document as documents
from tests.conftest import Record
from tests.job.conftest import MakeJob
from tests.job.harness import READS, Job, wait_until
from tests.job.kafka_records import PARTITIONS, ends, keyed, run
from tests.job.outcomes import clean_texts
from tests.job.pages import pages

WAITING = 6_000  # documents
SECONDS = 5.0
LONG_SESSION = {"session_seconds": 15, "commit_seconds": 2}  # as in production
SAMPLE = 0.2


def longest_pause(job: Job, stage: str) -> tuple[float, int]:
    """Seconds without a commit, at most, of any partition in work; and the number of commits."""
    end = run(ends(job.settings, READS[stage][0]))
    before: Mapping[int, int] = dict.fromkeys(range(PARTITIONS), 0)
    moved_at: dict[int, float] = {}
    pauses, commits = [0.0], 0
    while before != end:
        now, committed = time.monotonic(), job.committed(stage)
        for partition in range(PARTITIONS):
            if committed[partition] != before[partition]:
                pauses.append(now - moved_at.get(partition, now))
                moved_at[partition] = now
                commits += 1
            elif partition in moved_at and committed[partition] < end[partition]:
                pauses.append(now - moved_at[partition])
        before = committed
        time.sleep(SAMPLE)
    return max(pauses), commits


@pytest.mark.parametrize("stage", ["normalize", "extract"])
def test_commits_advance_under_saturation(make_job: MakeJob, record: Record, stage: str) -> None:
    """Thousands of documents wait; no partition in work goes without a commit for 5 s."""
    with make_job(**LONG_SESSION) as job:
        job.publish(map(keyed, pages(WAITING)))
        if stage == "extract":
            job.worker("normalize").start()
            job.wait_through("normalize")
        worker = job.worker(stage).start(wait=False)
        pause, commits = longest_pause(job, stage)
        assert worker.exit_code() is None
    record(f"row 8: {stage}: {WAITING} waiting, {commits} commits, at most {pause:.1f} s apart")
    assert commits > 0
    assert pause <= SECONDS


def test_a_restart_replays_only_what_was_not_committed(make_job: MakeJob, record: Record) -> None:
    """What is said twice after kill -9 lay behind the committed offsets."""
    with make_job() as job:
        job.publish(map(keyed, pages(WAITING)))
        job.worker("normalize").start()
        job.wait_through("normalize")
        worker = job.worker("extract").start()
        wait_until(lambda: sum(job.committed("extract").values()) > WAITING / 5, "some commits")
        worker.kill()
        committed = job.committed("extract")
        before = {value["origin"] for value in clean_texts(job) if not value["revision"]}
        place = {}
        for one in job.read("documents"):
            place[documents.decode(one.value).origin] = (one.partition, one.offset)
        behind = {origin for origin in before if _is_behind(place[origin], committed)}
        worker.start()
        job.wait_through()
        times = Counter(value["origin"] for value in clean_texts(job) if not value["revision"])
    repeated = {origin for origin, number in times.items() if number > 1}
    record(
        f"row 8: extract killed after {len(before)} clean texts, {len(behind)} of them not "
        f"committed: {len(repeated)} replayed, {len(repeated - behind)} that were committed"
    )
    assert len(times) == len(place)
    assert repeated == behind


def _is_behind(place: tuple[int, int], committed: Mapping[int, int]) -> bool:
    partition, offset = place
    return offset >= committed[partition]
