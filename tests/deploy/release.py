"""A release of the chart on the API server: helm installs it, tests stand in for controllers.

StatefulSet controller   makes a claim a replica and template, and leaves it when a set goes
Job controller           says that a Job is complete, for which helm waits
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.tools.chart import CHART, RELEASE, VALUES
from tests.deploy.cluster import Cluster, Object

# What the Job controller writes at the end; the API server refuses less (since Kubernetes 1.32).
_DONE = "2026-01-01T00:00:00Z"
COMPLETE = {
    "startTime": _DONE,
    "completionTime": _DONE,
    "succeeded": 1,
    "conditions": [
        {"type": kind, "status": "True", "lastTransitionTime": _DONE}
        for kind in ("SuccessCriteriaMet", "Complete")
    ],
}


class Release:
    """What helm does with one of the value sets in a namespace.

    Args:
        helm: the executable.
        cluster: where.
        namespace: one that is there.
        values: name of the value set.
    """

    def __init__(self, helm: Path, cluster: Cluster, namespace: str, values: str) -> None:
        self._helm, self._cluster, self._namespace = helm, cluster, namespace
        self._chart = (CHART, "--values", VALUES / f"{values}.yaml")

    def install(self) -> None:
        """`helm install`."""
        self._succeed("install", RELEASE, *self._chart)

    def upgrade(self, *changes: str) -> None:
        """`helm upgrade` with these changes of values."""
        self._succeed("upgrade", RELEASE, *self._chart, *changes)

    def refused_upgrade(self, *changes: str) -> str:
        """What helm says of an upgrade that must fail."""
        done = self._run("upgrade", RELEASE, *self._chart, *changes)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def roll_back(self) -> None:
        """`helm rollback` to the release before."""
        self._succeed("rollback", RELEASE)

    def uninstall(self) -> None:
        """`helm uninstall`."""
        self._succeed("uninstall", RELEASE)

    def contents(self) -> dict[str, Object]:
        """Every object in the namespace, by "Kind/name"."""
        return self._cluster.contents(self._namespace)

    def delete(self, name: str) -> None:
        """Delete an object, "Kind/name", and none that depend on it, for no controller runs."""
        path = self._cluster.path(self.contents()[name], self._namespace)
        answer = self._cluster.server.request("DELETE", f"{path}/{name.partition('/')[2]}")
        assert not answer.error, answer.error

    def make_claims(self) -> set[str]:
        """Make the claims of all StatefulSets; returns what is made, as "Kind/name"."""
        claims = [claim for found in self.contents().values() for claim in claims_of(found)]
        for claim in claims:
            answer = self._cluster.create(claim, self._namespace)
            assert not answer.error, answer.error
        return set(map(name_of, claims))

    def _succeed(self, *command: object) -> None:
        done = self._run(*command)
        assert done.returncode == 0, done.stderr

    def _run(self, *command: object) -> subprocess.CompletedProcess[str]:
        place = ("--kubeconfig", self._cluster.server.kubeconfig, "--namespace", self._namespace)
        with self._jobs_complete():
            return subprocess.run(
                list(map(str, (self._helm, *command, *place, "--timeout", "120s"))),
                capture_output=True,
                text=True,
                check=False,
            )

    @contextmanager
    def _jobs_complete(self) -> Iterator[None]:
        """Let every Job that appears be complete at once; a refusal is raised in the end."""
        ended, errors = threading.Event(), []
        path = f"/apis/batch/v1/namespaces/{self._namespace}/jobs"

        def complete() -> None:
            while not ended.wait(0.05):
                for job in self._cluster.server.request("GET", path).body["items"]:
                    if not job["status"].get("succeeded"):
                        where = f"{path}/{job['metadata']['name']}/status"
                        answer = self._cluster.server.merge(where, {"status": COMPLETE})
                        errors.append(answer.error)

        controller = threading.Thread(target=complete)
        controller.start()
        try:
            yield
        finally:
            ended.set()
            controller.join()
        assert not any(errors), errors


def name_of(found: Object) -> str:
    """What `Release.contents` calls an object, "Kind/name"."""
    return f"{found['kind']}/{found['metadata']['name']}"


def claims_of(workload: Object) -> list[dict[str, Any]]:
    """The claims that the StatefulSet controller makes: TEMPLATE-SET-ORDINAL, the set's labels."""
    if workload["kind"] != "StatefulSet":
        return []
    spec, name = workload["spec"], workload["metadata"]["name"]
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": f"{template['metadata']['name']}-{name}-{ordinal}",
                "labels": spec["selector"]["matchLabels"],
            },
            "spec": template["spec"],
        }
        for template in spec.get("volumeClaimTemplates", ())
        for ordinal in range(spec.get("replicas", 1))
    ]


def pods_of(workload: Object) -> list[dict[str, Any]]:
    """The first pod that a controller makes of a workload, with a volume for each claim."""
    if workload["kind"] not in {"StatefulSet", "Job"}:
        return []
    template = workload["spec"]["template"]
    volumes = [
        {"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": "any"}}
        for claim in workload["spec"].get("volumeClaimTemplates", ())
    ]
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**template["metadata"], "name": f"{workload['metadata']['name']}-0"},
            "spec": {
                **template["spec"],
                "volumes": [*template["spec"].get("volumes", ()), *volumes],
            },
        }
    ]
