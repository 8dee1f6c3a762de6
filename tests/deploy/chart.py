"""Where the chart lies, what it renders, and whether the goldens are of today's sources.

    deploy/helm/ + values/NAME.yaml ──helm template──▶ rendered/NAME.yaml, its first line a digest

Tests without helm read the goldens; the digest of the sources says whether they are current.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from agents.settings.job import Settings

ROOT = Path(__file__).parent.parent.parent
CHART = ROOT / "deploy" / "helm"
VALUES = Path(__file__).parent / "values"
RENDERED = Path(__file__).parent / "rendered"

RELEASE = "urltree"
NAMESPACE = "text"
OLDEST, NEWEST = "1.31.0", "1.36.0"

SETS = sorted(path.stem for path in VALUES.glob("*.yaml"))

# What the chart says itself: where Kafka is, what the pod is called, where its files are.
OF_THE_CHART = {
    *("brokers", "prefix", "security", "topics_file", "topics_replicas", "data_dir"),
    *("instance_id", "web_host", "web_port"),
}
_LOGIN = ("ssl_", "sasl_", "oauth_")

# Kinds of operators: what `.Capabilities` and schemas of Kubernetes itself do not know.
CUSTOM = ("keda.sh/", "kafka.strimzi.io/", "monitoring.coreos.com/")


def sources_digest() -> str:
    """Of all that a render depends on: the chart without its tests and README, and the values."""
    found = [path for path in CHART.rglob("*") if path.is_file()]
    packaged = [
        path
        for path in found
        if path.relative_to(CHART).parts[0] != "tests" and not path.name.startswith("README")
    ]
    digest = hashlib.sha256()
    for path in sorted([*packaged, *VALUES.glob("*.yaml")]):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def render(helm: Path, values: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Render the chart with a set of values; `helm template` makes no connection."""
    file = VALUES / f"{values}.yaml"
    options = ("--namespace", NAMESPACE, "--kube-version", NEWEST, "--values", str(file))
    return subprocess.run(
        [str(helm), "template", RELEASE, str(CHART), *options, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def golden(values: str) -> str:
    """What a set of values rendered to, without the first line."""
    return (RENDERED / f"{values}.yaml").read_text().split("\n", 1)[1]


@cache
def objects(values: str) -> list[dict[str, Any]]:
    """The objects of a golden, read once a process: whoever changes one copies it first."""
    return [found for found in yaml.load_all(golden(values), yaml.CSafeLoader) if found]


def pods(values: str) -> dict[str, dict[str, Any]]:
    """The pod specs of a golden, by kind and name."""
    found = {}
    for each in objects(values):
        name = f"{each['kind']}/{each['metadata']['name']}"
        if each["kind"] == "Pod":
            found[name] = each["spec"]
        elif each["kind"] in {"StatefulSet", "Job"}:
            found[name] = each["spec"]["template"]["spec"]
    return found


def settings_schema() -> dict[str, Any]:
    """What `settings` may hold: the job's settings, but for those that the chart sets."""
    found = {}
    for name, field in Settings.model_json_schema()["properties"].items():
        if name in OF_THE_CHART or name.startswith(_LOGIN):
            continue
        inner = field.get("anyOf", [field])[0]
        kept = {"type", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum"}
        found[name] = {key: inner[key] for key in sorted(kept & set(inner))}
        if inner["type"] == "array":
            found[name]["items"] = {"type": "string"}
    return {"type": "object", "additionalProperties": False, "properties": found}


def as_json(value: Any, indent: int = 0, used: int = 0) -> str:
    """JSON with what fits on a line in one line, which json.dumps cannot; `used` is before it."""
    line = json.dumps(value)
    if indent + used + len(line) <= 98 or not isinstance(value, dict | list):
        return line
    inner, close = "\n" + " " * (indent + 2), "\n" + " " * indent
    if isinstance(value, list):
        return f"[{inner}" + f",{inner}".join(as_json(v, indent + 2) for v in value) + f"{close}]"
    parts = [f'"{name}": {as_json(v, indent + 2, len(name) + 4)}' for name, v in value.items()]
    return f"{{{inner}" + f",{inner}".join(parts) + f"{close}}}"
