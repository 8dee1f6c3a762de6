"""A real API server accepts the chart, and a deleted release leaves only claims and topics.

`make test-apiserver` installs the tools. The first call builds the API server, in half an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from deploy.tools.chart import RELEASE, SETS
from tests.conftest import Record
from tests.deploy.apiserver import running
from tests.deploy.cluster import DRY_RUN, Cluster, Object
from tests.deploy.conftest import FindTool, Render
from tests.deploy.release import Release, claims_of, name_of, pods_of

pytestmark = pytest.mark.apiserver

every_set = pytest.mark.parametrize("values", SETS)
NewRelease = Callable[[str], Release]

# These options change the labels of every object and the configuration of every pod.
CHANGED = ("--set", "commonLabels.changed=yes", "--set", "settings.log_format=text")


@pytest.fixture(scope="session")
def cluster(
    tool: FindTool, crds: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Yield one API server for all tests, with the CRDs of all objects that the chart renders."""
    directory = tmp_path_factory.mktemp("apiserver")
    with running(tool("etcd"), tool("kube-apiserver"), directory) as server:
        cluster = Cluster(server, crds)
        cluster.make_priority_class("batch")
        yield cluster


@pytest.fixture
def namespace(cluster: Cluster, prefix: str) -> str:
    """Return a new namespace with Pod Security "restricted"."""
    return cluster.make_namespace(f"{prefix}text")


@pytest.fixture
def new_release(cluster: Cluster, namespace: str, tool: FindTool) -> NewRelease:
    """Return a function that makes a release of a set of values without installing it."""
    return lambda values: Release(tool("helm"), cluster, namespace, values)


@every_set
def test_every_object_is_accepted_without_a_warning(
    values: str, cluster: Cluster, namespace: str, rendered: Render, record: Record
) -> None:
    """All objects of a release, its hooks, and a pod of each template pass a strict dry run."""
    said = dry_run(rendered(values, "--namespace", namespace), cluster, namespace)
    record(f"API server {cluster.server.version}: {values}: {said}")


def test_the_reset_is_accepted_without_a_warning(
    cluster: Cluster, namespace: str, rendered: Render, record: Record
) -> None:
    """The objects of a reset pass a strict dry run. They are rendered only on an upgrade."""
    sentence = f"reset.confirm=extract of {RELEASE}"
    reset = ("--is-upgrade", "--set", "reset.stage=extract", "--set", sentence)
    said = dry_run(rendered("minimal", "--namespace", namespace, *reset), cluster, namespace)
    record(f"API server {cluster.server.version}: minimal with a reset: {said}")


def dry_run(text: str, cluster: Cluster, namespace: str) -> str:
    """Send all objects and their pods in a dry run without errors; return a summary."""
    objects = [each for each in yaml.safe_load_all(text) if each]
    pods = [pod for each in objects for pod in pods_of(each)]
    answers = [cluster.apply(each, namespace, **DRY_RUN) for each in objects]
    answers += [cluster.create(pod, namespace, **DRY_RUN) for pod in pods]
    assert [answer.error for answer in answers if answer.error] == []
    assert [warning for answer in answers for warning in answer.warnings] == []
    assert pods
    return f"{len(objects)} objects, {len(pods)} pods, 0 errors, 0 warnings"


def test_the_namespace_refuses_a_pod_that_is_not_restricted(
    cluster: Cluster, namespace: str
) -> None:
    """The namespace refuses a pod that is not restricted, and warns of a Job with such a pod."""
    spec = {"containers": [{"name": "root", "image": "root"}], "restartPolicy": "Never"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "root"}, "spec": spec}
    job = {**pod, "apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": spec}}}
    assert "restricted" in cluster.create(pod, namespace, **DRY_RUN).error
    assert "restricted" in str(cluster.apply(job, namespace, **DRY_RUN).warnings)


def test_an_unknown_field_is_refused(cluster: Cluster, namespace: str) -> None:
    """The server refuses an unknown field, both when objects are applied and when created."""
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "budget"},
        "spec": {"maxUnavailble": 1},
    }
    assert "maxUnavailble" in cluster.apply(budget, namespace, **DRY_RUN).error
    assert "maxUnavailble" in cluster.create(budget, namespace, **DRY_RUN).error


@every_set
def test_a_release_leaves_claims_and_topics_and_nothing_else(
    values: str, new_release: NewRelease, record: Record
) -> None:
    """After install, upgrade, rollback and uninstall, only claims and topics remain."""
    release = new_release(values)
    before = set(release.contents())
    release.install()
    claims = release.make_claims()
    topics = {name for name in release.contents() if name.startswith("KafkaTopic/")}
    release.upgrade(*CHANGED)
    assert all(changed(each) for each in release.contents().values() if claims_of(each))
    release.roll_back()
    assert not any(changed(each) for each in release.contents().values())
    release.uninstall()
    after = release.contents()
    assert set(after) - before == claims | topics
    assert [name for name, left in after.items() if "deletionTimestamp" in left["metadata"]] == []
    record(f"{values} leaves {len(claims)} claims and {len(topics)} topics, no more")


def changed(found: Object) -> bool:
    """Return whether an object has the label of the upgrade."""
    return "changed" in found["metadata"].get("labels", {})


def test_a_second_install_takes_over_what_the_first_left(new_release: NewRelease) -> None:
    """A second install succeeds with the topics and claims that the first release left."""
    release = new_release("strimzi-topics")
    release.install()
    claims = release.make_claims()
    release.uninstall()
    release.install()
    found = release.contents()
    wanted = {name for each in found.values() for name in map(name_of, claims_of(each))}
    assert wanted == claims
    assert claims <= set(found)


@pytest.mark.parametrize(
    "change",
    ["persistence.size=99Gi", "persistence.storageClass=other", "persistence.enabled=false"],
)
def test_another_disk_is_refused_and_the_next_upgrade_works(
    change: str, new_release: NewRelease
) -> None:
    """An upgrade that changes a claim template is refused, because such templates are immutable.

    The StatefulSet is unchanged, and the next upgrade succeeds.
    """
    release = new_release("minimal")
    release.install()
    before = release.contents()["StatefulSet/urltree-extract"]["spec"]
    said = release.refused_upgrade("--set", f"stages.extract.{change}")
    assert "StatefulSet" in said
    assert "Forbidden" in said
    assert release.contents()["StatefulSet/urltree-extract"]["spec"] == before
    release.upgrade(*CHANGED)


def test_a_larger_disk_comes_with_a_set_that_was_deleted_alone(new_release: NewRelease) -> None:
    """If only the StatefulSet is deleted, an upgrade can create it again with larger claims.

    The existing claims are kept.
    """
    release = new_release("minimal")
    release.install()
    claims = release.make_claims()
    release.delete("StatefulSet/urltree-extract")
    release.upgrade("--set", "stages.extract.persistence.size=99Gi")
    found = release.contents()
    sizes = [c["spec"]["resources"] for c in claims_of(found["StatefulSet/urltree-extract"])]
    assert sizes == [{"requests": {"storage": "99Gi"}}] * len(sizes)
    assert sizes
    assert claims <= set(found)
