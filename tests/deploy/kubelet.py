"""A kubelet of our own: runs pods of a render as Kubernetes does, on this machine.

    golden ──▶ Node ──▶ Pod: command, environment, mounts, user, probes, grace period ──▶ a process
               in namespaces of its own (mount, process, network)

Nothing that is rendered is replaced. Beside it stand what a cluster gives: names of brokers (by
/etc/hosts, forwarded to the embedded Kafka), Secrets, and the image's ENV. Memory has no limit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.deploy.pod import NAMESPACES, Pod
from tests.deploy.pod_files import Secrets, out_of_reach
from tests.deploy.pod_network import Network


def missing() -> str | None:
    """Why no pod runs on this machine, in a sentence."""
    absent = [name for name in ("unshare", "setpriv", "mount") if shutil.which(name) is None]
    if absent:
        return f"no pod is run without {', '.join(absent)}: apt install util-linux mount"
    if os.geteuid() != 0:
        return "no pod is run: namespaces and chroot need root"
    if gone := out_of_reach():
        return f"no pod is run: its own /tmp would hide {gone}, or nothing mounts it"
    tried = "mount -t tmpfs none /mnt && mount -t proc proc /proc"
    ran = subprocess.run([*NAMESPACES, tried], capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"no pod is run: this machine permits no mounts: {ran.stderr.strip()}"
    try:
        Network({}).close()
    except OSError as error:
        return f"no pod is run: this machine permits no network namespace: {error}"
    return None


@dataclass
class Node:
    """A machine of the cluster.

    Attributes:
        directory: for roots, volumes, claims and logs.
        objects: of a render.
        secrets: that the render refers to.
        doors: ports of this machine by the ports at which pods find brokers.
        pods: started so far.
    """

    directory: Path
    objects: list[dict[str, Any]]
    secrets: Secrets
    doors: Mapping[int, int]
    pods: list[Pod] = field(default_factory=list)

    def worker(self, stage: str, ordinal: int = 0) -> Pod:
        """A pod of a stage's StatefulSet, not started."""
        (found,) = (
            each
            for each in self._all("StatefulSet")
            if each["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
            == stage
        )
        return self._pod(f"{found['metadata']['name']}-{ordinal}", found["spec"]["template"])

    def command(self, kind: str, name: str) -> Pod:
        """A Job's pod, or a bare one, not started."""
        (found,) = (each for each in self._all(kind) if each["metadata"]["name"] == name)
        return self._pod(name, found if kind == "Pod" else found["spec"]["template"])

    def config(self) -> dict[str, dict[str, str]]:
        """The data of each ConfigMap, by name."""
        return {each["metadata"]["name"]: each["data"] for each in self._all("ConfigMap")}

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
