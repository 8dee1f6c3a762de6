"""A small kubelet: it runs rendered pods on this machine as Kubernetes would.

    rendered ─▶ Node ─▶ Pod: command, environment, mounts, user, probes, grace period ─▶ a process
               in namespaces of its own (mount, process, network)

The kubelet changes nothing in the rendered pods. It adds the parts that a cluster would add: names
of brokers (in /etc/hosts, forwarded to the embedded Kafka), Secrets, and the ENV of the image. The
kubelet does not enforce memory limits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.deploy.pod import NAMESPACES, Pod
from tests.deploy.pod_files import Secrets, out_of_reach
from tests.deploy.pod_network import Network


def missing() -> str | None:
    """Return a sentence that says why this machine cannot run pods, or None if it can."""
    absent = [name for name in ("unshare", "setpriv", "mount") if shutil.which(name) is None]
    if absent:
        return f"pods need {', '.join(absent)}: apt install util-linux mount"
    if os.geteuid() != 0:
        return "pods need root, for namespaces and chroot"
    if gone := out_of_reach():
        return f"pods cannot see {gone}: their own /tmp would hide it, or no mount contains it"
    tried = "mount -t tmpfs none /mnt && mount -t proc proc /proc"
    ran = subprocess.run([*NAMESPACES, tried], capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"pods cannot run: this machine permits no mounts: {ran.stderr.strip()}"
    try:
        Network({}).close()
    except OSError as error:
        return f"pods cannot run: this machine permits no network namespace: {error}"
    return None


@dataclass
class Node:
    """A machine of the cluster that runs pods.

    Attributes:
        directory: directory with the roots, volumes, claims and logs of pods.
        objects: the rendered objects.
        secrets: the Secrets that the rendered objects refer to, and that the chart does not make.
        doors: port of this machine, by the port of a broker that pods connect to.
        pods: all pods that were created.
    """

    directory: Path
    objects: list[dict[str, Any]]
    secrets: Secrets
    doors: Mapping[int, int]
    pods: list[Pod] = field(default_factory=list)

    def worker(self, stage: str, ordinal: int = 0) -> Pod:
        """Create a pod of a stage's StatefulSet, without starting it."""
        (found,) = (
            each
            for each in self._all("StatefulSet")
            if each["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
            == stage
        )
        return self._pod(f"{found['metadata']['name']}-{ordinal}", found["spec"]["template"])

    def command(self, kind: str, name: str) -> Pod:
        """Create the pod of a Job, or a bare pod, without starting it."""
        (found,) = (each for each in self._all(kind) if each["metadata"]["name"] == name)
        return self._pod(name, found if kind == "Pod" else found["spec"]["template"])

    def config(self) -> dict[str, dict[str, str]]:
        """Return the data of each ConfigMap, by name."""
        return {each["metadata"]["name"]: each["data"] for each in self._all("ConfigMap")}

    def all_secrets(self) -> Secrets:
        """Return the data of each Secret, by name."""
        rendered = {
            each["metadata"]["name"]: {
                name: b64decode(content) for name, content in each["data"].items()
            }
            for each in self._all("Secret")
        }
        return {**rendered, **self.secrets}

    def end(self) -> None:
        """Kill every pod."""
        for pod in self.pods:
            pod.kill()

    def _all(self, kind: str) -> Iterable[dict[str, Any]]:
        return (each for each in self.objects if each["kind"] == kind)

    def _pod(self, name: str, template: Mapping[str, Any]) -> Pod:
        pod = Pod(self, name, template["spec"])
        self.pods.append(pod)
        return pod
