"""JSON Schemas for kubeconform: Kubernetes from a PyPI package, custom resources from CRDs.

Without them, kubeconform would download schemas.

    kubernetes-validate   v1.31.0-local-strict/statefulset-apps-v1.json
    tools.toml, crds/     keda.sh/scaledobject_v1alpha1.json
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

# Templates of paths, whose variables kubeconform replaces. A strict schema refuses unknown fields.
LOCATIONS = (
    "{{.NormalizedKubernetesVersion}}-local-strict/{{.ResourceKind}}{{.KindSuffix}}.json",
    "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
)
# The schemas of the package refer to each other by a URL that does not exist.
_ELSEWHERE = '"$ref": "/api/_definitions.json', '"$ref": "_definitions.json'


def write_schemas(folder: Path, versions: Iterable[str], crds: Iterable[Path]) -> list[str]:
    """Write the schemas of versions of Kubernetes ("1.31.0") and of CRDs.

    Returns:
        Values for kubeconform's option `-schema-location`, in this order.
    """
    for version in versions:
        _write_version(folder, f"v{version}-local-strict")
    for crd in crds:
        _write_crd(folder, yaml.load(crd.read_text(), yaml.CSafeLoader))
    return [f"{folder}/{location}" for location in LOCATIONS]


def _write_version(folder: Path, version: str) -> None:
    """Copy the schemas of a version, and change their references to paths in the folder."""
    (folder / version).mkdir()
    packaged = files("kubernetes_validate") / "kubernetes-json-schema" / version
    with as_file(packaged) as found:
        for schema in found.glob("*.json"):
            text = schema.read_text().replace(*_ELSEWHERE)
            without_id = {key: value for key, value in json.loads(text).items() if key != "$id"}
            (folder / version / schema.name).write_text(json.dumps(without_id))


def _write_crd(folder: Path, crd: dict[str, Any]) -> None:
    """Write the schema of each version of a custom resource."""
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"].lower()
    (folder / group).mkdir(exist_ok=True)
    for version in crd["spec"]["versions"]:
        schema = _strict(version["schema"]["openAPIV3Schema"])
        (folder / group / f"{kind}_{version['name']}.json").write_text(json.dumps(schema))


def _strict(schema: Any) -> Any:
    """Return a structural schema as a JSON Schema that refuses unknown fields."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items()}
    if strict.pop("x-kubernetes-int-or-string", False):
        strict["type"] = ["integer", "string"]
    keeps_unknown = "x-kubernetes-preserve-unknown-fields" in strict
    if isinstance(strict.get("properties"), dict) and not keeps_unknown:
        strict.setdefault("additionalProperties", False)
    return strict
