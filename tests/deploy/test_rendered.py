"""What the chart renders, read from tests/deploy/rendered/ without helm.

`make test-deploy` runs the same tests on the sets of values that are not committed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml
from jsonschema import Draft7Validator

from deploy.tools.chart import (
    CHART,
    COMMITTED,
    NEWEST,
    OLDEST,
    RENDERED,
    ROOT,
    SETS,
    VALUES,
    sources_digest,
)
from tests.deploy.chart import CUSTOM, every_set, objects

DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = Draft7Validator(json.loads((CHART / "values.schema.json").read_text()))

_ONE_ROW = {"resources", "labels", "nodeSelector"}  # mappings with only one row in README.md
_FREE = {"labels", "annotations", "commonLabels", "nodeSelector", "affinity"}


@pytest.mark.parametrize("values", COMMITTED)
def test_the_rendered_files_are_of_todays_chart(values: str) -> None:
    """The first line of a rendered file has the digest of today's chart and values.

    `make test-deploy` renders the chart and compares the whole file.
    """
    first = (RENDERED / f"{values}.yaml").read_text().split("\n", 1)[0]
    assert first.endswith(sources_digest()), (
        "the chart or its values changed: run make generate (with helm, see CONTRIBUTING.md)"
    )


def test_only_the_committed_sets_are_kept() -> None:
    """The folder has no rendered file except those of the committed sets of values.

    No test would notice if another file were out of date.
    """
    assert sorted(path.stem for path in RENDERED.iterdir()) == sorted(COMMITTED)


@pytest.mark.slow
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@every_set
def test_every_object_is_one_of_kubernetes(values: str, version: str) -> None:
    """Each object fits its strict schema in the oldest and the newest supported Kubernetes."""
    own = [each for each in objects(values) if not each["apiVersion"].startswith(CUSTOM)]
    assert own
    for each in own:
        kubernetes_validate.validate(each, version.rsplit(".", 1)[0], strict=True)


@every_set
def test_no_two_objects_share_a_name(values: str) -> None:
    """No two objects have the same kind and name, because the second would replace the first."""
    names = [(each["kind"], each["metadata"]["name"]) for each in objects(values)]
    assert sorted(names) == sorted(set(names))


@every_set
def test_a_worker_gets_topics_byte_by_byte(values: str) -> None:
    """The rendered topics.yaml has the same bytes as the file of the project."""
    maps = [each["data"] for each in objects(values) if each["kind"] == "ConfigMap"]
    copies = [data["topics.yaml"] for data in maps if "topics.yaml" in data]
    assert copies
    assert set(copies) == {(ROOT / "topics.yaml").read_text()}


def test_the_chart_documents_every_value() -> None:
    """The chart's README has a row for each value.

    `make test-deploy` compares the README with the output of helm-docs.
    """
    readme = (CHART / "README.md").read_text()
    assert [path for path in _leaves(DEFAULTS) if f"| {path} |" not in readme] == []


def test_the_schema_knows_every_value() -> None:
    """The schema refuses an unknown key at every level, because it is probably misspelt."""
    assert SCHEMA.is_valid(DEFAULTS)
    for path in _tables(DEFAULTS):
        wrong = copy.deepcopy(DEFAULTS)
        inner = wrong
        for part in path:
            inner = inner[part]
        inner["misspelt"] = 1
        assert not SCHEMA.is_valid(wrong), path


@pytest.mark.parametrize("values", SETS)
def test_a_set_of_values_fits_the_schema(values: str) -> None:
    """Each set of values fits the schema, after it is merged with the chart's values as by helm."""
    given = yaml.safe_load((VALUES / f"{values}.yaml").read_text())
    SCHEMA.validate(_merged(DEFAULTS, given))


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = {**below, **above}
    for name in set(below) & set(above):
        if isinstance(below[name], dict) and isinstance(above[name], dict):
            both[name] = _merged(below[name], above[name])
    return both


def _leaves(values: dict[str, Any], above: str = "") -> Iterator[str]:
    """Yield the path of each value in the README's table, such as `kafka.brokers`."""
    for name, value in values.items():
        if isinstance(value, dict) and value and name not in _ONE_ROW:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def _tables(values: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all mappings except those whose keys the user chooses."""
    if above and above[-1] in _FREE:
        return
    yield above
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _tables(value, (*above, name))
