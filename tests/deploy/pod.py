"""A rendered pod, which runs as the kubelet would run it.

start ──▶ startup probe ──▶ liveness and readiness probes, each with its period ──▶ SIGTERM, grace
                               └─ liveness failed, or the process ended: start again
"""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

from demo.child import ChildProcess
from tests.deploy.pod_files import image_environment, mounts, root, volumes
from tests.deploy.pod_network import Network
from tests.deploy.pod_probes import Probes
from tests.job.harness import PATIENCE, wait_until

if TYPE_CHECKING:
    from tests.deploy.kubelet import Node

# An ordinary PATH may lack the directory of chroot, which is part of coreutils.
CHROOT = shutil.which("chroot", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or "chroot"
NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc")


class Pod:
    """A pod with one container.

    Args:
        node: the node that runs the pod.
        name: `metadata.name`.
        spec: the rendered spec.

    Attributes:
        restarts: number of restarts of the container, because its process ended or a probe failed.
        is_ready: last result of the readiness probe.
    """

    def __init__(self, node: Node, name: str, spec: Mapping[str, Any]) -> None:
        self.name, self.spec, self._node = name, spec, node
        (self.container,) = spec["containers"]
        self.grace = float(spec.get("terminationGracePeriodSeconds", 30))
        self.restarts, self.is_ready = 0, False
        self._place = Path(mkdtemp(prefix=f"{name}-", dir=node.directory))
        self._log = self._place / "log"
        self._starts = 0
        self._ending = Event()
        self._child: ChildProcess | None = None
        self._network: Network | None = None
        self._probing: Thread | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the image, overridden by the rendered ones."""
        given = {each["name"]: self._value(each) for each in self.container["env"]}
        return {**image_environment(), **given}

    @property
    def pid(self) -> int:
        """Process id, on this machine, of process 1 of the pod."""
        assert self._child is not None, f"{self.name} is not running"
        children = Path(f"/proc/{self._child.pid}/task/{self._child.pid}/children").read_text()
        return int(children.split()[0])

    @property
    def claim(self) -> Path:
        """Directory of the pod's claim, which is kept when the pod ends."""
        return self._node.directory / "claims" / self.name

    def start(self) -> Self:
        """Start the container and its rendered probes."""
        self._start()
        if "startupProbe" in self.container:
            self._ending.clear()
            self._probing = Thread(target=self._probe, daemon=True)
            self._probing.start()
        return self

    def wait_ready(self) -> Self:
        """Wait until the pod is ready. Fail if it restarts before that."""
        what, restarts = f"{self.name} to be ready", lambda: self.restarts or None
        wait_until(lambda: self.is_ready, what, self.log, restarts)
        return self

    def run(self) -> int:
        """Run the pod of a Job or a test until it ends, and return its exit code."""
        self.start()
        wait_until(lambda: self.poll() is not None, f"{self.name} to end", self.log)
        return self.kill()

    def stop(self) -> tuple[int, float]:
        """Send SIGTERM, and SIGKILL after the grace period; return exit code and seconds."""
        self._end_probing()
        asked = time.monotonic()
        os.kill(self.pid, signal.SIGTERM)
        while self.poll() is None and time.monotonic() < asked + self.grace:
            time.sleep(0.05)
        seconds = time.monotonic() - asked
        return self.kill(), seconds

    def kill(self) -> int:
        """Send SIGKILL and return the exit code, 0 if the pod was never started."""
        self._end_probing()
        code = 0 if self._child is None else self._child.kill()
        if self._network is not None:
            self._network.close()
        self._child = self._network = None
        self.is_ready = False
        return code

    def execute(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the pod, as `kubectl exec` does."""
        enter = ("nsenter", f"--target={self.pid}", "--mount", "--pid", "--root", "--wd")
        return subprocess.run(
            [*enter, *self._rights(), *self._environment(), *command],
            capture_output=True,
            text=True,
            check=False,
        )

    def poll(self) -> int | None:
        """Return the exit code of the pod's process, or None while it runs."""
        return None if self._child is None else self._child.poll()

    def get(self, path: str, seconds: float = PATIENCE) -> tuple[int, str]:
        """Return status and text of an HTTP response; status 0 if none comes in time."""
        (port,) = self.container["ports"]
        assert self._network is not None, f"{self.name} is not running"
        try:
            connection = http.client.HTTPConnection("127.0.0.1")
            connection.sock = self._network.connect(port["containerPort"], seconds)
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""

    def metric(self, name: str) -> float:
        """Return a metric, summed over its labels, or 0 if /metrics does not have it."""
        pattern = re.compile(rf"^{name}(?:{{.*}})? (\S+)$", re.MULTILINE)
        return sum(map(float, pattern.findall(self.get("/metrics")[1])))

    def log(self) -> str:
        """Return the whole log of the pod."""
        return self._log.read_text() if self._log.exists() else ""

    def _value(self, variable: Mapping[str, Any]) -> str:
        if "value" in variable:
            return str(variable["value"])
        assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}
        return self.name

    def _start(self) -> None:
        self._starts += 1
        place = self._place / str(self._starts)
        made = volumes(
            self.spec, self._node.config(), self._node.all_secrets(), place / "volumes", self.claim
        )
        brokers = self.environment["URLTREE_BROKERS"].split(",")
        names = sorted({broker.rpartition(":")[0] for broker in brokers})
        mounted = mounts(self.container, made)
        script = root(place / "root", mounted, names)
        self._network = network = Network(self._node.doors)
        command = [*NAMESPACES, f'{script}\nexec {CHROOT} {place / "root"} "$@"', "pod"]
        command += [*self._rights(), *self._environment()]
        command += [*self.container["command"], *self.container["args"]]
        self._child = network.inside(lambda: ChildProcess(command, self._log))

    def _rights(self) -> list[str]:
        """Return a command that sets the rendered user and groups, and drops all capabilities."""
        user, own = self.spec["securityContext"], self.container["securityContext"]
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert own["readOnlyRootFilesystem"] is True
        assert own["allowPrivilegeEscalation"] is False
        ids = (f"--reuid={user['runAsUser']}", f"--regid={user['runAsGroup']}")
        none = ("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
        return ["setpriv", *ids, f"--groups={user['fsGroup']}", *none]

    def _environment(self) -> list[str]:
        named = [f"{name}={value}" for name, value in self.environment.items()]
        return ["env", "--ignore-environment", "--chdir=/app", *named]

    def _probe(self) -> None:
        probes = Probes(self.container, self.get)
        while not self._ending.wait(0.1):
            if probes.is_dead or self.poll() is not None:
                self._restart()
                probes = Probes(self.container, self.get)
            probes.turn()
            self.is_ready = probes.is_ready

    def _restart(self) -> None:
        self.restarts += 1
        self.is_ready = False
        assert self._child is not None
        assert self._network is not None
        self._child.kill()
        self._network.close()
        self._start()

    def _end_probing(self) -> None:
        self._ending.set()
        if self._probing is not None:
            self._probing.join()
            self._probing = None
