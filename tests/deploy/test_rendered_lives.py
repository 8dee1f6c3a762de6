"""Rendered workers recover, stop under load and restart as documented."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import yaml

from agents.commands.topics import apply
from agents.kafka.tables.table import row_key
from agents.settings.job import Settings
from deploy.tools.chart import RELEASE
from tests.agents.workers import work
from tests.conftest import Record
from tests.deploy.chart import objects
from tests.deploy.conftest import Render
from tests.deploy.kubelet import Node
from tests.deploy.pod import Pod
from tests.deploy.pod_looks import (
    LEFT,
    handles_sigterm,
    looks_during_a_restart,
    looks_during_recovery,
)
from tests.deploy.secure_node import VALUES, group, secure_node
from tests.job.harness import Job, wait_until
from tests.job.kafka_records import PARTITIONS, Sent, keyed, partition_of, run
from tests.job.pages import pages
from tests.job.state import count, differing, in_changelog, partition_on_disk

pytestmark = pytest.mark.usefixtures("own_kafka")

Cluster = tuple[Node, Job]

CHANGELOG = "urltree-extract-rows-changelog"
SITES = 1_000
PAGES = 2_000
TRIES = 5  # the test's own process may stall and send its requests too late


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a node and a Kafka with topics, after one page has passed all stages."""
    with secure_node(tmp_path_factory.mktemp("lives"), objects(VALUES)) as (node, job):
        run(apply(job.settings))
        job.publish([keyed(pages(1)[0])])
        given = {"data_dir": job.directory, "commit_seconds": 0.3}
        work(Settings.model_validate({**job.settings.model_dump(), **given}))
        yield node, job


@pytest.fixture
def cluster(started: Cluster) -> Iterator[Cluster]:
    """Yield the shared node and Kafka, and kill all pods after the test. Claims are kept."""
    yield started
    started[0].end()


@pytest.mark.parametrize(
    "rows", [10_000, pytest.param(100_000, marks=pytest.mark.deploy)], ids="{} rows".format
)
def test_a_worker_is_alive_all_through_its_recovery_and_ready_after_it(
    cluster: Cluster, rows: int, record: Record
) -> None:
    """While records remain to be restored, /livez always returns 200 and /readyz 503."""
    node, job = cluster
    fill(job, rows)
    pod = node.worker("extract")
    for _ in range(TRIES):
        shutil.rmtree(pod.claim, ignore_errors=True)
        looks, seconds, cpu = looks_during_recovery(pod.start())
        pod.wait_ready()
        assert (pod.get("/readyz")[0], pod.metric(LEFT)) == (200, 0)
        assert pod.restarts == 0
        assert pod.stop()[0] == 0
        if looks:
            break
    assert looks > 0
    restored = {n: partition_on_disk(pod.claim, "rows", n) for n in range(PARTITIONS)}
    assert differing(restored, in_changelog(job, "rows")) == []
    record(
        f"{count(restored):,} rows restored in {seconds:.0f} s, "
        f"{rows / seconds:,.0f}/s ({cpu:.0f} s of CPU with the start): at {looks} looks meanwhile "
        "alive and not ready, 0 restarts"
    )


def test_what_is_in_work_at_sigterm_is_finished_within_the_grace_period(
    cluster: Cluster, record: Record
) -> None:
    """After SIGTERM, both stages end within the grace period, although pages wait.

    After a restart no page is missing.
    """
    node, job = cluster
    pods = [node.worker("normalize"), node.worker("extract")]
    for seed in range(2, 2 + TRIES):
        job.publish(map(keyed, pages(PAGES, seed=seed)))
        ends = ends_at_work(job, pods)
        for pod, (code, seconds) in zip(pods, ends, strict=True):
            assert code == 0, pod.log()
            assert seconds < pod.grace
            assert "shutdown_seconds are over" not in pod.log()
        if waiting := job.lag("normalize") + job.lag("extract"):
            break
    assert waiting > 0
    for pod in pods:
        pod.start()
    job.wait_through()
    accounts = job.audit()
    assert accounts.missing == 0
    assert [pod.restarts for pod in pods] == [0, 0]
    record(
        f"SIGTERM with {waiting:,} of {PAGES:,} pages waiting: ended in "
        f"{' and '.join(f'{seconds:.1f}' for _, seconds in ends)} s of {pods[0].grace:.0f}, "
        f"{accounts.missing} of {accounts.origins:,} missing after a restart"
    )


def test_a_worker_that_still_imports_ends_at_sigterm(cluster: Cluster) -> None:
    """A worker that gets SIGTERM while Python imports ends with exit code 143.

    Linux drops a signal that process 1 does not handle, so the worker must handle it early.
    """
    pod = cluster[0].worker("extract")
    for _ in range(TRIES):
        pod.start()
        wait_until(lambda: handles_sigterm(pod), "Python to begin", pod.log)
        if code := pod.stop()[0]:  # 0 means that the imports had ended
            break
    assert code == 128 + signal.SIGTERM


@pytest.mark.deploy
def test_the_reset_job_lets_a_stage_learn_anew(
    cluster: Cluster, rendered: Render, record: Record
) -> None:
    """The reset Job deletes all rows, and the stage then learns the same rows again.

    The Job waits until the stopped workers have left their group.
    """
    node, job = cluster
    job.publish(map(keyed, pages(60, seed=3)))
    pods = [node.worker("normalize").start(), node.worker("extract").start()]
    job.wait_through()
    assert [pod.stop()[0] for pod in pods] == [0, 0]
    former = real_keys(job)
    sets = ("--is-upgrade", "--set", f"reset.stage=extract,reset.confirm=extract of {RELEASE}")
    node.objects = [each for each in yaml.safe_load_all(rendered(VALUES, *sets)) if each]
    reset = node.command("Job", f"{RELEASE}-reset-extract")
    assert reset.run() == 0, reset.log()
    assert count(in_changelog(job, "rows")) == 0
    pods[1].start()
    job.wait_through("extract")
    assert real_keys(job) == former
    assert job.audit().missing == 0
    said = " ".join(reset.log().split())
    record(f"the reset Job as rendered: {said}; {len(former)} rows made anew")


def test_a_restart_of_a_static_member_is_unseen_by_its_peer(
    cluster: Cluster, record: Record
) -> None:
    """If one of two static members restarts, there is no rebalance.

    Generation and partitions of the group are unchanged, and the peer's /readyz is always 200.
    """
    node, job = cluster
    pods = [node.worker("extract", ordinal).start() for ordinal in range(2)]
    everything = [*pods, node.worker("normalize").start()]
    wait_until(lambda: is_settled(job, everything), "all", lambda: logs(everything))
    before = group(job, "extract")
    shares = [before.of(pod) for pod in pods]
    looks = sum(looks_during_a_restart(*pair) for pair in (pods, pods[::-1]))
    after = group(job, "extract")
    assert (after.state, after.generation) == ("Stable", before.generation)
    assert [after.of(pod) for pod in pods] == shares
    job.publish(map(keyed, pages(60, seed=4)))
    job.wait_through()
    assert job.audit().missing == 0
    record(
        f"both of two static members restarted: generation {before.generation} "
        f"before and after, {looks} looks at the peer's /readyz all 200, its log says nothing"
    )


def ends_at_work(job: Job, pods: Sequence[Pod]) -> list[tuple[int, float]]:
    """Start pods, and stop them while they process records; return exit codes and seconds."""
    for pod in pods:
        pod.start()
    for pod in pods:
        wait_until(partial(is_working_or_through, job, pod), "records in work", pod.log)
    with ThreadPoolExecutor() as both:
        return list(both.map(Pod.stop, pods))


def is_working_or_through(job: Job, pod: Pod) -> bool:
    """Return whether a pod processes records, or no stage has records left."""
    return pod.metric("urltree_in_flight") > 0 or not job.lag("normalize") + job.lag("extract")


def is_settled(job: Job, pods: Sequence[Pod]) -> bool:
    """Return whether all pods are ready and the first two share the partitions equally."""
    if not all(pod.get("/readyz")[0] == 200 for pod in pods):
        return False
    now = group(job, "extract")
    even = [PARTITIONS // 2] * 2
    return now.state == "Stable" and [len(now.of(pod)) for pod in pods[:2]] == even


def fill(job: Job, rows: int) -> None:
    """Write a number of rows into the changelog, as copies of a real row with other keys."""
    real = next(each.value for each in job.read(CHANGELOG) if each.value is not None)
    job.publish((row(number, real) for number in range(rows)), CHANGELOG)


def row(number: int, value: bytes) -> Sent:
    """Return a record of the changelog with the row of a generated site."""
    domain = f"site-{number % SITES}.example"
    key = row_key(domain, number.to_bytes(16, "big"))
    return Sent(key, value, partition_of(domain.encode()))


def real_keys(job: Job) -> set[bytes]:
    """Return the keys of the rows that come from pages and not from `fill`."""
    rows = in_changelog(job, "rows")
    return {key for share in rows.values() for key in share if not key.startswith(b"site-")}


def logs(pods: Sequence[Pod]) -> str:
    """Return the logs of pods, for a test that fails."""
    return "\n".join(pod.log() for pod in pods)
