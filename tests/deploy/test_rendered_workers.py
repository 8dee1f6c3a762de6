"""Every pod of a rendered release runs, on a Kafka with TLS and SASL.

The pods come from tests/deploy/rendered/, so no helm is needed. `kubelet` changes nothing in them.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.tools.chart import RELEASE
from tests.conftest import Record
from tests.deploy.chart import objects
from tests.deploy.kubelet import Node
from tests.deploy.pod import Pod
from tests.deploy.secure_node import VALUES, secure_node
from tests.job.harness import READS

pytestmark = pytest.mark.usefixtures("own_kafka")

STAGES = tuple(READS)
JOB = f"{RELEASE}-topics-apply"
USER = 10001
MIB = 1024 * 1024

every_stage = pytest.mark.parametrize("stage", STAGES)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Yield a node on which the Job for topics has run and a pod of each stage was started."""
    with secure_node(tmp_path_factory.mktemp("release"), objects(VALUES)) as (made, _):
        job = made.command("Job", JOB)
        assert job.run() == 0, job.log()
        for stage in STAGES:
            made.worker(stage).start()
        yield made


@pytest.fixture
def pod(node: Node, stage: str) -> Pod:
    """Wait until the pod of a stage is ready, and return it."""
    return next(pod for pod in node.pods if stage in pod.container["args"]).wait_ready()


@every_stage
def test_a_worker_becomes_ready_and_shows_its_metrics(pod: Pod, stage: str, record: Record) -> None:
    """A worker becomes ready without a restart, and needs less memory than its limit."""
    assert pod.restarts == 0
    assert pod.get("/livez")[0] == 200
    assert pod.metric("urltree_ready") == 1
    peak, limit = _peak(pod), _bytes(pod.container["resources"]["limits"]["memory"])
    assert peak < limit
    record(
        f"{stage} as rendered, TLS and SCRAM-SHA-512: ready, 0 restarts, "
        f"{peak // MIB} of {limit // MIB} MiB"
    )


@every_stage
def test_its_environment_is_the_rendered_one(pod: Pod) -> None:
    """The environment of a pod has the rendered variables and those of the image.

    It has no URLTREE_ variable of this machine.
    """
    lines = _proc(pod, "environ").rstrip("\0").split("\0")
    found = dict(line.split("=", 1) for line in lines)
    rendered = {each["name"]: each.get("value", pod.name) for each in pod.container["env"]}
    assert rendered.items() <= found.items()
    assert {"PATH", "PYTHONUNBUFFERED"} <= found.keys() - rendered.keys()
    assert [name for name in found if name.startswith("URLTREE_") and name not in rendered] == []
    assert len(found) == len(lines)


@every_stage
def test_it_has_the_rendered_user_and_no_rights(pod: Pod) -> None:
    """Process 1 of a pod has the rendered user and group, and no capabilities."""
    lines = (line.partition(":") for line in _proc(pod, "status").splitlines())
    status = {name: value.split() for name, _, value in lines}
    assert status["Uid"] == status["Gid"] == [str(USER)] * 4
    assert (status["Groups"], status["NoNewPrivs"]) == ([str(USER)], ["1"])
    assert {int(status[name][0], 16) for name in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert status["NSpid"][1:] == ["1"]


@every_stage
def test_it_can_write_nowhere_but_its_data_and_tmp(pod: Pod) -> None:
    """In a running pod, only the data directory and /tmp are writable."""
    ran = pod.execute("python", "-c", _TRIES_TO_WRITE)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "/var/lib/urltree written",
        "/tmp written",  # noqa: S108 - the pod's own
        f"others {errno.EROFS}",
    ]


def test_the_job_of_topics_does_nothing_twice(node: Node, record: Record) -> None:
    """A second run of the Job for topics changes nothing, because the Job runs at each upgrade."""
    job = node.command("Job", JOB)
    assert job.run() == 0, job.log()
    assert job.log() == "All topics are as declared.\n"
    record("the Job of topics as rendered ends with 0, before workers and beside them")


@pytest.mark.parametrize("stage", ["extract"])
def test_the_helm_test_passes(node: Node, pod: Pod, record: Record) -> None:
    """The pod of `helm test` ends with 0: a page passes the workers and is deleted again."""
    assert pod.restarts == 0
    trip = node.command("Pod", f"{RELEASE}-round-trip")
    assert trip.run() == 0, trip.log()
    record(f"the helm test as rendered: {trip.log().splitlines()[-1]}")


_TRIES_TO_WRITE = """
import os
def tried(directory):
    try:
        open(os.path.join(directory, "new"), "x").close()
    except OSError as error:
        return error.errno
    os.unlink(os.path.join(directory, "new"))
    return "written"
own = ("/var/lib/urltree", "/tmp")
for directory in own:
    print(directory, tried(directory))
found = []
for path, inner, _ in os.walk("/"):
    if path.startswith((*own, "/proc")) or path.count("/") > 3:
        inner.clear()
    else:
        found.append(path)
assert {"/", "/app", "/dev", "/etc/urltree/secrets", "/opt", "/usr/bin"} <= {*found}
print("others", *{tried(path) for path in found})
"""


def _proc(pod: Pod, name: str) -> str:
    return Path(f"/proc/{pod.pid}/{name}").read_text()


def _peak(pod: Pod) -> int:
    """Return the peak resident memory in bytes."""
    (line,) = (line for line in _proc(pod, "status").splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def _bytes(quantity: str) -> int:
    units: dict[str, Any] = {"Mi": MIB, "Gi": 1024 * MIB}
    return int(quantity[:-2]) * int(units[quantity[-2:]])
