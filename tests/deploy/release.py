"""A release of the chart on the API server, installed by helm.

No controllers run, so this module does their work:

StatefulSet controller   makes a claim for each replica, and keeps it when the set is deleted
Job controller           marks Jobs as complete, because helm waits for that
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

# Status of a complete Job. Since Kubernetes 1.32 the API server requires all of these fields.
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
    """A helm release of the chart in a namespace, with one of the sets of values.

    Args:
        helm: the executable of helm.
        cluster: the cluster.
        namespace: name of an existing namespace.
        values: name of the set of values.
    """

    def __init__(self, helm: Path, cluster: Cluster, namespace: str, values: str) -> None:
        self._helm, self._cluster, self._namespace = helm, cluster, namespace
        self._chart = (CHART, "--values", VALUES / f"{values}.yaml")

    def install(self) -> None:
        """Run `helm install`."""
        self._succeed("install", RELEASE, *self._chart)

    def upgrade(self, *changes: str) -> None:
        """Run `helm upgrade` with changed values."""
        self._succeed("upgrade", RELEASE, *self._chart, *changes)

    def refused_upgrade(self, *changes: str) -> str:
        """Run an upgrade that must fail, and return its error."""
        done = self._run("upgrade", RELEASE, *self._chart, *changes)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def roll_back(self) -> None:
        """Run `helm rollback` to the previous release."""
        self._succeed("rollback", RELEASE)

    def uninstall(self) -> None:
        """Run `helm uninstall`."""
        self._succeed("uninstall", RELEASE)

    def contents(self) -> dict[str, Object]:
        """Return every object in the namespace, by "Kind/name"."""
        return self._cluster.contents(self._namespace)

    def delete(self, name: str) -> None:
        """Delete an object, "Kind/name". Its dependents stay, because no controller runs."""
        path = self._cluster.path(self.contents()[name], self._namespace)
        answer = self._cluster.server.request("DELETE", f"{path}/{name.partition('/')[2]}")
        assert not answer.error, answer.error

    def make_claims(self) -> set[str]:
        """Create the claims of all StatefulSets, and return their names as "Kind/name"."""
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
        """Mark every new Job as complete, until the `with` block ends.

        Raises:
            AssertionError: the API server refused a change.
        """
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
    """Return the name of an object, "Kind/name", as in `Release.contents`."""
    return f"{found['kind']}/{found['metadata']['name']}"


def claims_of(workload: Object) -> list[dict[str, Any]]:
    """Return the claims that the StatefulSet controller would create for a workload."""
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
    """Return the first pod that a controller would create for a workload."""
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
