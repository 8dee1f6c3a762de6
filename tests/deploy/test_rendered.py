"""What the chart renders, read from the goldens: no helm is needed."""

from __future__ import annotations

import json

import pytest

from tests.deploy.chart import CHART, RENDERED, ROOT, SETS, settings_schema, sources_digest


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
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema["$defs"]["settings"] == settings_schema()
