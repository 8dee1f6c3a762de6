"""The chart, the sets of values that it is tested with, and how helm renders it.

    deploy/helm/ + tests/deploy/values/NAME.yaml ──helm template──▶ manifests

The manifests of the sets in `COMMITTED` are kept in tests/deploy/rendered/, so that tests can read
them without helm. The first line of each file in that folder has a digest of the files from which
it was rendered.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from base64 import b64encode
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm"
VALUES = ROOT / "tests" / "deploy" / "values"
RENDERED = ROOT / "tests" / "deploy" / "rendered"

RELEASE = "urltree"
NAMESPACE = "text"
OLDEST, NEWEST = "1.31.0", "1.36.0"  # oldest and newest version of Kubernetes in tests

SETS = tuple(sorted(path.stem for path in VALUES.glob("*.yaml")))
COMMITTED = ("everything", "minimal")


# Files of the chart that `helm template` does not render. If only these files change, the committed
# manifests are still correct.
_NOT_RENDERED = {"tests", "README.md", "README.md.gotmpl", "values.schema.json"}


# The key for headers is random. The committed manifests contain this one instead, in base64.
_RANDOM_KEY = re.compile(r"^(  header-key: )\S+$", re.MULTILINE)
_FIXED_KEY = b64encode(b"k" * 64).decode()


def sources_digest() -> str:
    """Return a digest of the files that the committed manifests are rendered from."""
    packaged = [
        path
        for path in CHART.rglob("*")
        if path.is_file() and path.relative_to(CHART).parts[0] not in _NOT_RENDERED
    ]
    values = [VALUES / f"{name}.yaml" for name in COMMITTED]
    digest = hashlib.sha256()
    for path in sorted([*packaged, *values]):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def render(helm: Path, values: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `helm template` with a set of values. helm connects to no cluster.

    Args:
        helm: the executable.
        values: name of a set of values.
        arguments: further arguments of helm.
    """
    file = VALUES / f"{values}.yaml"
    options = ("--namespace", NAMESPACE, "--kube-version", NEWEST, "--values", str(file))
    return subprocess.run(  # noqa: S603 - helm, with the arguments of tests
        [str(helm), "template", RELEASE, str(CHART), *options, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def golden_text(helm: Path, values: str) -> str:
    """Return the content of tests/deploy/rendered/VALUES.yaml, rendered now.

    Raises:
        ValueError: helm fails; the message is helm's own message.
    """
    done = render(helm, values)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    manifests = _RANDOM_KEY.sub(rf"\g<1>{_FIXED_KEY}", done.stdout)
    return f"# Rendered from sources {sources_digest()}\n{manifests}"
