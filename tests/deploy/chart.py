"""Reading of the objects that the chart renders.

For the committed sets of values, the objects are read from tests/deploy/rendered/. For the other
sets, helm renders them, in tests that `make test-deploy` runs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import yaml

from deploy.tools.chart import COMMITTED, RENDERED, SETS, render
from deploy.tools.install import NotInstalledError, find

# API groups of operators, which are neither in `.Capabilities` nor in the schemas of Kubernetes.
CUSTOM = ("keda.sh/", "kafka.strimzi.io/", "monitoring.coreos.com/")

every_set = pytest.mark.parametrize(
    "values",
    [name if name in COMMITTED else pytest.param(name, marks=pytest.mark.deploy) for name in SETS],
)


@cache
def objects(values: str) -> list[dict[str, Any]]:
    """Return the objects of a set of values. Copy an object before you change it: it is cached."""
    return [found for found in yaml.load_all(_manifests(values), yaml.CSafeLoader) if found]


def pods(values: str) -> dict[str, dict[str, Any]]:
    """Return the specs of all pods, by kind and name of the object that contains the spec."""
    found = {}
    for each in objects(values):
        name = f"{each['kind']}/{each['metadata']['name']}"
        if each["kind"] == "Pod":
            found[name] = each["spec"]
        elif each["kind"] in {"StatefulSet", "Job"}:
            found[name] = each["spec"]["template"]["spec"]
    return found


def _manifests(values: str) -> str:
    if values in COMMITTED:
        return (RENDERED / f"{values}.yaml").read_text()
    try:
        helm = find("helm")
    except NotInstalledError as error:
        pytest.skip(str(error))
    done = render(helm, values)
    assert done.returncode == 0, done.stderr
    return done.stdout
