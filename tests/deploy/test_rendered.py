"""What the chart renders, read from the goldens: no helm is needed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml
from jsonschema import Draft7Validator

from tests.deploy.chart import (
    CHART,
    CUSTOM,
    NEWEST,
    OLDEST,
    RENDERED,
    ROOT,
    SETS,
    VALUES,
    objects,
    settings_schema,
    sources_digest,
)

DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = Draft7Validator(json.loads((CHART / "values.schema.json").read_text()))

_ONE_ROW = {"resources", "labels", "nodeSelector"}  # a row of README for all of it
_FREE = {"labels", "annotations", "commonLabels", "nodeSelector", "affinity"}


@pytest.mark.parametrize("values", SETS)
def test_a_golden_is_of_todays_chart(values: str) -> None:
    """Its first line is the digest of the sources; `make test-deploy` renders and compares."""
    first = (RENDERED / f"{values}.yaml").read_text().split("\n", 1)[0]
    assert first.endswith(sources_digest()), (
        "the chart or its values changed: URLTREE_REWRITE_RENDERED=1 .venv/bin/pytest -m deploy "
        "tests/deploy/test_goldens.py"
    )


def test_the_charts_topics_are_the_jobs() -> None:
    """`.Files.Get` cannot leave the chart, so it holds a copy."""
    assert (CHART / "topics.yaml").read_bytes() == (ROOT / "topics.yaml").read_bytes()


def test_settings_of_the_chart_are_those_of_the_job() -> None:
    """By name, type and bounds; what the chart sets itself cannot be set twice."""
    assert SCHEMA.schema["$defs"]["settings"] == settings_schema()


@pytest.mark.slow
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("values", SETS)
def test_every_object_is_one_of_kubernetes(values: str, version: str) -> None:
    """By its own schema, strictly, of the oldest and the newest version that is supported."""
    own = [each for each in objects(values) if not each["apiVersion"].startswith(CUSTOM)]
    assert own
    for each in own:
        kubernetes_validate.validate(each, version.rsplit(".", 1)[0], strict=True)


@pytest.mark.parametrize("values", SETS)
def test_no_two_objects_share_a_name(values: str) -> None:
    """Of a kind, in a namespace: the second would replace the first."""
    names = [(each["kind"], each["metadata"]["name"]) for each in objects(values)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("values", SETS)
def test_a_worker_gets_topics_byte_by_byte(values: str) -> None:
    """YAML's indentation neither adds nor takes a line."""
    maps = [each["data"] for each in objects(values) if each["kind"] == "ConfigMap"]
    copies = [data["topics.yaml"] for data in maps if "topics.yaml" in data]
    assert copies
    assert set(copies) == {(ROOT / "topics.yaml").read_text()}


def test_the_chart_documents_every_value() -> None:
    """In README.md, which helm-docs makes; `make test-deploy` compares it to the letter."""
    readme = (CHART / "README.md").read_text()
    assert [path for path in _leaves(DEFAULTS) if f"| {path} |" not in readme] == []


def test_the_schema_knows_every_value() -> None:
    """And nothing else at any level: an unknown key is a misspelt one."""
    assert SCHEMA.is_valid(DEFAULTS)
    for path in _tables(DEFAULTS):
        wrong = copy.deepcopy(DEFAULTS)
        inner = wrong
        for part in path:
            inner = inner[part]
        inner["misspelt"] = 1
        assert not SCHEMA.is_valid(wrong), path


@pytest.mark.parametrize("values", SETS)
def test_a_set_of_values_is_by_the_schema(values: str) -> None:
    """As helm merges it: a table of the set adds to the chart's."""
    given = yaml.safe_load((VALUES / f"{values}.yaml").read_text())
    SCHEMA.validate(_merged(DEFAULTS, given))


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = {**below, **above}
    for name in set(below) & set(above):
        if isinstance(below[name], dict) and isinstance(above[name], dict):
            both[name] = _merged(below[name], above[name])
    return both


def _leaves(values: dict[str, Any], above: str = "") -> Iterator[str]:
    """Paths that stand in README's table: a dot between names, up to what is no table or empty."""
    for name, value in values.items():
        if isinstance(value, dict) and value and name not in _ONE_ROW:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def _tables(values: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of all tables but those whose keys the user chooses."""
    if above and above[-1] in _FREE:
        return
    yield above
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _tables(value, (*above, name))
