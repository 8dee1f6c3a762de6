"""Builds deploy/image/Dockerfile without Docker: buildah, on a base that debootstrap makes.

    debootstrap ──once──▶ CACHE/bases/bookworm.tar ──▶ base ──buildah, Dockerfile──▶ config, root/

The base stands in for `python:3.12-slim-bookworm`, for Docker's registry is not everywhere: the
same Debian, its own Python 3.11. What is built is unpacked, to be run by `container.py`.
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
    """An image that was built.

    Attributes:
        config: what the image's configuration says under `config`, in OCI's words.
        root: its files, owned as in the image.
        size: bytes of its files, those of the base too.
    """

    config: Mapping[str, Any]
    root: Path
    size: int


def missing() -> str | None:
    """Why no image can be built on this machine, in a sentence."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        return f"no image is built without {', '.join(absent)}: apt install buildah debootstrap"
    if os.geteuid() != 0:
        return "no image is built: debootstrap and chroot need root"
    return None


@contextmanager
def built(scratch: Path) -> Iterator[Image]:
    """Build it, unpack it, delete it in the end; `scratch` holds the layers meanwhile.

    Raises:
        AssertionError: a step fails, with its output.
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
    """A tar of Debian with Python and certificates, made once; 176 MB."""
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
    """This machine's certificates are mounted where pip and uv look: the Dockerfile knows none."""
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
    """Names a storage of buildah's below `scratch`, apart from the machine's own."""
    file = scratch / "storage.conf"
    file.write_text(
        f'[storage]\ndriver = "overlay"\nrunroot = "{scratch}/run"\ngraphroot = "{scratch}/graph"\n'
    )
    return {"CONTAINERS_STORAGE_CONF": str(file)}


def _run(command: str, environment: Mapping[str, str] | None = None) -> str:
    """The standard output of a shell whose mounts nobody else sees."""
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-euc", command],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout
