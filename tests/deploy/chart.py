"""The objects that the chart renders, read by tests.

Objects of the committed sets of values come from tests/deploy/rendered/. Those of the other sets
are rendered by helm, in tests that `make test-deploy` runs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import yaml

from deploy.tools.chart import COMMITTED, RENDERED, SETS, render
from deploy.tools.install import NotInstalledError, find

# API groups of operators: neither `.Capabilities` nor the schemas of Kubernetes know them.
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
    """Return the specs of all pods, by kind and name of the object that has them."""
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
