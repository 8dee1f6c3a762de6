"""Runs a program in an image's files as Kubernetes would under a restricted policy, without it.

    / read-only ─ /tmp a tmpfs ─ /var/lib/urltree a directory of the machine ─ /proc its own
    uid and gid 10001, no other group, no capability, no-new-privileges; the program is process 1

The network is the machine's, so that it reaches the embedded Kafka on loopback.
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
    """A container of an image: a disk of its own, its image's environment and more.

    Args:
        image: whose files and configuration it has.
        data: directory of the machine; made, and given to the container's user.
        environment: besides the image's own, or instead.
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
        """Run the entry point to its end."""
        return self.program(*self._entrypoint, *arguments)

    def program(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another program to its end."""
        return subprocess.run(
            [*self._prefix, *command], capture_output=True, text=True, check=False
        )

    def start(self, log: Path, *arguments: str) -> Running:
        """Start the entry point; it dies with this process."""
        return Running([*self._prefix, *self._entrypoint, *arguments], log)


class Running:
    """The first process of a container."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._child = ChildProcess(command, log)

    @property
    def pid(self) -> int:
        """The machine's number of what is process 1 inside."""
        children = Path(f"/proc/{self._child.pid}/task/{self._child.pid}/children").read_text()
        return int(children.split()[0])

    def status(self) -> dict[str, str]:
        """What the kernel says of it: proc(5), `status`."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._child.poll()

    def log(self) -> str:
        """The last lines that it wrote."""
        return self._child.tail(40)

    def ask_to_end(self) -> None:
        """SIGTERM, as the kubelet sends it."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL; nothing where it has ended."""
        self._child.kill()
