"""Run a program in the files of an image as Kubernetes would under a restricted policy.

    / read-only ─ /tmp a tmpfs ─ /var/lib/urltree a directory of the machine ─ /proc its own
    uid and gid 10001, no other group, no capability, no-new-privileges; the program is process 1

The container uses the network of the machine, to reach the embedded Kafka on loopback.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from demo.child import ChildProcess
from tests.deploy.image import Image

OWNER = 10001
DATA = "/var/lib/urltree"

_ENTER = """
root=$1 data=$2 directory=$3; shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777,size=64m tmp "$root/tmp"
mount -t tmpfs -o mode=755 dev "$root/dev"
for device in null zero random urandom; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,ro "$root/dev"
mount --bind "$data" "$root/var/lib/urltree"
mount -o remount,ro,bind "$root"
exec chroot "$root" setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs \
    --bounding-set=-all --inh-caps=-all env --ignore-environment --chdir="$directory" "$@"
"""
_NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child")


class Container:
    """A container of an image, with its own disk and environment.

    Args:
        image: image with its files and configuration.
        data: data directory on the machine, which is created for the container's user.
        environment: variables that add to, or override, those of the image.
    """

    def __init__(self, image: Image, data: Path, environment: Mapping[str, str]) -> None:
        data.mkdir(exist_ok=True)
        os.chown(data, OWNER, OWNER)
        own = dict(line.split("=", 1) for line in image.config["Env"])
        named = [f"{name}={value}" for name, value in {**own, **environment}.items()]
        place = (str(image.root), str(data), image.config["WorkingDir"])
        self._prefix = [*_NAMESPACES, "sh", "-euc", _ENTER, "enter", *place, *named]
        self._entrypoint = image.config["Entrypoint"]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the entry point, and wait until it ends."""
        return self.program(*self._entrypoint, *arguments)

    def program(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another program, and wait until it ends."""
        return subprocess.run(
            [*self._prefix, *command], capture_output=True, text=True, check=False
        )

    def start(self, log: Path, *arguments: str) -> Running:
        """Start the entry point. It is killed when this process ends."""
        return Running([*self._prefix, *self._entrypoint, *arguments], log)


class Running:
    """The first process of a container."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._child = ChildProcess(command, log)

    @property
    def pid(self) -> int:
        """Process id, on the machine, of process 1 of the container."""
        children = Path(f"/proc/{self._child.pid}/task/{self._child.pid}/children").read_text()
        return int(children.split()[0])

    def status(self) -> dict[str, str]:
        """Return the fields of `/proc/PID/status`."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def poll(self) -> int | None:
        """Return the exit code of the process, or None while it runs."""
        return self._child.poll()

    def log(self) -> str:
        """Return the last lines of the container's log."""
        return self._child.tail(40)

    def ask_to_end(self) -> None:
        """Send SIGTERM, as the kubelet does."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL if the process still runs."""
        self._child.kill()
