"""Workers commit regularly under any load, and a restart replays only uncommitted records.

No partition waits for a commit longer than 5 s of the worker's CPU time. CPU time is limited and
not wall time, because a busy machine gives the worker only a part of its time. The test allows four
times as much, for slow machines. A worker that commits only at the end exceeds even this limit.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import psutil
import pytest

from agents.kafka.groups import count_workers
from models import document as documents
from tests.conftest import Record
from tests.job.conftest import MakeJob
from tests.job.harness import READS, Job, Worker, wait_until
from tests.job.kafka_records import PARTITIONS, ends, keyed, run
from tests.job.outcomes import clean_texts
from tests.job.pages import pages

WAITING = 6_000  # number of documents in the test of commits under saturation
RESTARTED = 3_000  # number of documents in the test that kills and restarts a worker
SECONDS = 4 * 5.0  # longest time without a commit, in seconds of CPU time
SESSION = 15  # session timeout in seconds
SAMPLE = 0.2  # seconds between two reads of the committed offsets


class Pause(NamedTuple):
    """A time without a commit, in seconds of wall time and of the worker's CPU time."""

    seconds: float = 0.0
    cpu: float = 0.0


def longest_pause(job: Job, worker: Worker) -> tuple[Pause, int]:
    """Return the longest time without a commit of any partition, and the number of commits."""
    end = run(ends(job.settings, READS[worker.stage][0]))
    process = psutil.Process(worker.pid)
    before: Mapping[int, int] = dict.fromkeys(range(PARTITIONS), 0)
    moved_at: dict[int, Pause] = {}
    pauses, commits = [Pause()], 0
    while before != end:
        assert worker.exit_code() is None, worker.log()
        now, committed = _now(process), job.committed(worker.stage)
        for partition in range(PARTITIONS):
            has_moved = committed[partition] != before[partition]
            if partition in moved_at and (has_moved or committed[partition] < end[partition]):
                since = moved_at[partition]
                pauses.append(Pause(now.seconds - since.seconds, now.cpu - since.cpu))
            if has_moved:
                moved_at[partition] = now
                commits += 1
        before = committed
        time.sleep(SAMPLE)
    seconds, cpu = (max(each) for each in zip(*pauses, strict=True))
    return Pause(seconds, cpu), commits


def _now(process: psutil.Process) -> Pause:
    times = process.cpu_times()
    return Pause(time.monotonic(), times.user + times.system)


@pytest.mark.parametrize("stage", ["normalize", "extract"])
def test_commits_advance_under_saturation(make_job: MakeJob, record: Record, stage: str) -> None:
    """While thousands of documents wait, all partitions with open records commit regularly."""
    with make_job(session_seconds=SESSION, commit_seconds=1) as job:
        job.publish(map(keyed, pages(WAITING)))
        if stage == "extract":
            job.worker("normalize").start()
            job.wait_through("normalize")
        worker = job.worker(stage).start(wait=False)
        pause, commits = longest_pause(job, worker)
    record(
        f"commits: {stage}: {WAITING} waiting, {commits} commits, at most {pause.seconds:.1f} s "
        f"apart ({pause.cpu:.1f} s of the worker's CPU)"
    )
    assert commits > PARTITIONS
    assert pause.cpu <= SECONDS


def test_a_restart_replays_only_what_was_not_committed(make_job: MakeJob, record: Record) -> None:
    """After a worker was killed, only records after its committed offsets are processed again.

    No page is revised, because a replay of a revised page publishes only its second text.
    """
    with make_job(revise=False) as job:
        job.publish(map(keyed, pages(RESTARTED)))
        job.worker("normalize").start()
        job.wait_through("normalize")
        worker = job.worker("extract", session=SESSION).start()
        wait_until(lambda: sum(job.committed("extract").values()) > RESTARTED / 5, "some commits")
        worker.kill()
        # Kafka may process the worker's last requests after its death, until its session ends
        wait_until(lambda: not run(count_workers(job.settings, "extract")), "its session to end")
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
        f"commits: extract killed after {len(before)} clean texts, {len(behind)} of them not "
        f"committed: {len(repeated)} replayed, {len(repeated - behind)} that were committed"
    )
    assert len(times) == len(place)
    assert repeated == behind


def _is_behind(place: tuple[int, int], committed: Mapping[int, int]) -> bool:
    partition, offset = place
    return offset >= committed[partition]
