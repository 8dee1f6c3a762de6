"""Build deploy/image/Dockerfile with buildah, on a base image that debootstrap creates.

    debootstrap ──once──▶ CACHE/bases/bookworm.tar ──▶ base ──buildah, Dockerfile──▶ config, root/

The base replaces `python:3.12-slim-bookworm`, because not every machine reaches Docker's registry.
The base has the same release of Debian, with Debian's Python 3.11. The image is unpacked, and
`container.py` runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.tools.chart import ROOT
from deploy.tools.install import cache_directory

DOCKERFILE = ROOT / "deploy" / "image" / "Dockerfile"
NEEDED = ("buildah", "debootstrap", "setpriv", "unshare")
LABELS = {"VERSION": "1.2.3", "REVISION": "0123abc", "CREATED": "2026-11-21T00:00:00Z"}

_BASE = "localhost/base"
_IMAGE = "localhost/urltree"
_PACKAGES = "ca-certificates,python3,python3-venv"
_DEBIAN = "http://deb.debian.org/debian"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


@dataclass(frozen=True)
class Image:
    """A built image.

    Attributes:
        config: the part `config` of the image's OCI configuration.
        root: directory with the files of the image, which have the owners that the image sets.
        size: size of these files in bytes, including those of the base.
    """

    config: Mapping[str, Any]
    root: Path
    size: int


def missing() -> str | None:
    """Return a sentence that says why this machine cannot build images, or None if it can."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        return f"building an image needs {', '.join(absent)}: apt install buildah debootstrap"
    if os.geteuid() != 0:
        return "building an image needs root, for debootstrap and chroot"
    return None


@contextmanager
def built(scratch: Path) -> Iterator[Image]:
    """Build and unpack the image, and delete it at the end. Its layers are stored in `scratch`.

    Raises:
        AssertionError: a step fails; the message contains the output of the step.
    """
    scratch.mkdir()
    storage = _storage(scratch)
    try:
        _run("buildah from --name base scratch", storage)
        _run(f"buildah add --quiet base {base()} /", storage)
        _run("buildah config --env PATH=/usr/local/bin:/usr/bin:/bin base", storage)
        _run(f"buildah commit --quiet --rm base {_BASE}", storage)
        _run(_build_command(scratch), storage)
        config = json.loads(_run(f"buildah inspect --type image {_IMAGE}", storage))
        root = scratch / "root"
        _run(f'cp --archive "$(buildah mount "$(buildah from {_IMAGE})")" {root}', storage)
        size = sum(path.lstat().st_size for path in root.rglob("*"))
        yield Image(config["OCIv1"]["config"], root, size)
    finally:
        shutil.rmtree(scratch)


def base() -> Path:
    """Return a tar file of Debian with Python and certificates (176 MB); create it if missing."""
    made = cache_directory() / "bases" / "bookworm.tar"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        making = made.with_name(f"making-{os.getpid()}")
        options = f"--variant=minbase --include={_PACKAGES} bookworm"
        try:
            _run(f"debootstrap {options} {making} {_DEBIAN}")
            leave = "--exclude='./dev/*' --exclude='./var/cache/*' --exclude='./var/lib/apt/*'"
            _run(f"tar -C {making} {leave} --numeric-owner -cf {making}.tar .")
            Path(f"{making}.tar").replace(made)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return made


def _build_command(scratch: Path) -> str:
    """Return the build command, which mounts this machine's certificates for pip and uv."""
    trusted = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    (scratch / "pip.conf").write_text(f"[global]\ncert = {_CERTIFICATES}\n")
    (scratch / "uv.toml").write_text("system-certs = true\n")
    volumes = {
        str(trusted): _CERTIFICATES,
        str(scratch / "pip.conf"): "/etc/pip.conf",
        str(scratch / "uv.toml"): "/etc/uv/uv.toml",
    }
    return " ".join(
        [
            "buildah build --isolation chroot --timestamp 315532800",
            *(f"--volume {source}:{target}:ro" for source, target in volumes.items()),
            *(f"--build-arg {name}={value}" for name, value in LABELS.items()),
            *(f"--build-arg {n}" for n in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX") if n in os.environ),
            f"--build-arg BASE={_BASE} --file {DOCKERFILE} --tag {_IMAGE} {ROOT}",
        ]
    )


def _storage(scratch: Path) -> Mapping[str, str]:
    """Return an environment with which buildah stores its files in `scratch`."""
    file = scratch / "storage.conf"
    file.write_text(
        f'[storage]\ndriver = "overlay"\nrunroot = "{scratch}/run"\ngraphroot = "{scratch}/graph"\n'
    )
    return {"CONTAINERS_STORAGE_CONF": str(file)}


def _run(command: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a shell script whose mounts are invisible to other processes; return its output."""
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-euc", command],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout
