"""The files of a pod: a read-only root with its rendered mounts.

    /usr, Python, the packages   the machine's, read-only
    /app                         agents, models, topics.yaml of the checkout, read-only
    volumeMounts                 emptyDir and claim: directories; configMap and secret: files
    /etc/hosts                   names that the DNS of the cluster would resolve

The checkout and its virtual environment replace the image, which `container.py` tests.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from deploy.tools.chart import ROOT
from tests.deploy.image import DOCKERFILE

Secrets = Mapping[str, Mapping[str, bytes]]  # content by name of the Secret, then by key
Mount = tuple[Path, str, bool]  # source, path in the pod, whether read-only

_APP = "/app"
_IMAGE = ("agents", "models", "topics.yaml")
_DEVICES = ("null", "zero", "random", "urandom")
_OF_THE_MACHINE = ("/etc/ld.so.cache",)
_FILES = {
    "etc/nsswitch.conf": "hosts: files\n",
    "etc/passwd": "urltree:x:10001:10001::/tmp:/usr/sbin/nologin\n",
    "etc/group": "urltree:x:10001:\n",
}


def image_environment() -> dict[str, str]:
    """Return the ENV of the last stage of the image."""
    last = DOCKERFILE.read_text().rpartition("\nFROM ")[2]
    (text,) = re.findall(r"^ENV ((?:.*\\\n)*.*)$", last, re.MULTILINE)
    return dict(re.findall(r"(\w+)=(\S+)", text))


def volumes(
    spec: Mapping[str, Any],
    configs: Mapping[str, Mapping[str, str]],
    secrets: Secrets,
    directory: Path,
    claim: Path,
) -> dict[str, Path]:
    """Create the volumes of a pod as the kubelet does, and return their directories by name.

    Args:
        spec: the spec of the pod.
        configs: data of each ConfigMap, by name.
        secrets: data of each Secret, by name.
        directory: directory for volumes that end with the pod.
        claim: directory of the pod's claim. It becomes the volume `data`, unless the pod declares
            a volume of that name.

    Raises:
        KeyError: a ConfigMap, a Secret or a key of it is missing. Kubernetes would never start such
            a pod.
    """
    group = spec["securityContext"]["fsGroup"]
    found = {}
    for volume in spec["volumes"]:
        at = found[volume["name"]] = directory / volume["name"]
        at.mkdir(parents=True)
        if "configMap" in volume:
            for name, text in configs[volume["configMap"]["name"]].items():
                _write(at / name, text.encode(), 0o644, group)
        elif "projected" in volume:
            mode = volume["projected"]["defaultMode"]
            for source in volume["projected"]["sources"]:
                of = secrets[source["secret"]["name"]]
                for item in source["secret"]["items"]:
                    _write(at / item["path"], of[item["key"]], mode, group)
        elif "secret" in volume:
            for name, content in secrets[volume["secret"]["secretName"]].items():
                _write(at / name, content, volume["secret"]["defaultMode"], group)
        else:
            assert "emptyDir" in volume, volume
            _give(at, 0o2777, group)
    if "data" not in found:
        claim.mkdir(parents=True, exist_ok=True)
        _give(claim, 0o2775, group)
        found["data"] = claim
    return found


def mounts(container: Mapping[str, Any], made: Mapping[str, Path]) -> list[Mount]:
    """Return the mounts of a container.

    Args:
        container: the rendered container.
        made: directories of the volumes, by name.
    """
    return [
        (
            made[mount["name"]] / mount.get("subPath", ""),
            mount["mountPath"],
            mount.get("readOnly", False),
        )
        for mount in container["volumeMounts"]
    ]


def root(directory: Path, mounted: Sequence[Mount], names: Sequence[str]) -> str:
    """Create the root directory of a pod, and return a shell script that mounts its volumes.

    The script must run as root.

    Args:
        directory: directory of the root.
        mounted: mounts of the volumes.
        names: host names that resolve to loopback.
    """
    every = [*_program(), *mounted]
    for name, text in _FILES.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    (directory / "etc/hosts").write_text(f"127.0.0.1 localhost {' '.join(names)}\n")
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).is_symlink():  # links into /usr, as in Debian since version 12
            shutil.copy(Path("/", name), directory / name, follow_symlinks=False)
    for name in ("proc", "dev", "opt"):
        (directory / name).mkdir()
    (directory / "opt/urltree").symlink_to(sys.prefix)
    for source, path, _ in every:
        _mount_point(directory / path.lstrip("/"), is_directory=source.is_dir())
    return "\n".join(_script(directory, every))


def out_of_reach() -> Path | None:
    """Return a path of the checkout or of Python that pods cannot read, or None."""
    every = [ROOT, link := Path(sys.prefix, "bin/python")]
    while link.is_symlink():
        every.append(link := link.parent / link.readlink())
    mounted = [ROOT, *(source for source, _, _ in _program())]
    for path in every:
        around = (path, *path.parents)
        if Path("/tmp") in around or not any(source in around for source in mounted):  # noqa: S108
            return path
    return None


def _program() -> Iterator[Mount]:
    """Yield the mounts of the job's code, of Python and of system libraries."""
    packages = [ROOT / "urltree", ROOT / "urltree_evaluation"]
    inner = [Path(sys.base_prefix), Path(sys.prefix), *packages]
    for path in (Path("/usr"), *inner, *map(Path, _OF_THE_MACHINE)):
        if path.exists() and (path == Path("/usr") or Path("/usr") not in path.parents):
            yield path, str(path), True
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).is_dir() and not Path("/", name).is_symlink():
            yield Path("/", name), f"/{name}", True
    for name in _IMAGE:
        yield ROOT / name, f"{_APP}/{name}", True


def _script(directory: Path, mounted: Sequence[Mount]) -> Iterator[str]:
    at = quote(str(directory))
    yield f"mount --bind {at} {at}"
    for source, path, is_read_only in mounted:
        target = quote(f"{directory}{path}")
        yield f"mount --bind {quote(str(source))} {target}"
        if is_read_only:
            yield f"mount -o remount,bind,ro {target}"
    yield f"mount -t proc proc {at}/proc"
    yield f"mount -t tmpfs -o mode=755 dev {at}/dev"
    for device in _DEVICES:
        yield f"touch {at}/dev/{device}; mount --bind /dev/{device} {at}/dev/{device}"
    yield f"mount -o remount,ro {at}/dev"
    yield f"mount -o remount,bind,ro {at}"


def _mount_point(path: Path, *, is_directory: bool) -> None:
    if is_directory:
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _write(path: Path, content: bytes, mode: int, group: int) -> None:
    path.write_bytes(content)
    _give(path, mode, group)


def _give(path: Path, mode: int, group: int) -> None:
    os.chown(path, 0, group)
    path.chmod(mode)
