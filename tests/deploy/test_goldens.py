"""The committed files that helm and helm-docs generate are current."""

from __future__ import annotations

import subprocess

import pytest

from deploy.tools.chart import CHART, COMMITTED, RENDERED, golden_text
from tests.deploy.conftest import FindTool

pytestmark = pytest.mark.deploy


@pytest.mark.parametrize("values", COMMITTED)
def test_a_rendered_file_is_what_helm_renders(values: str, tool: FindTool) -> None:
    """Each file in tests/deploy/rendered/ is the output of helm for the current chart.

    So a review of a change to the chart shows how the rendered objects change.
    """
    path = RENDERED / f"{values}.yaml"
    assert path.read_text() == golden_text(tool("helm"), values), "run make generate"


def test_the_readme_is_what_helm_docs_makes(tool: FindTool) -> None:
    """The chart's README is the output of helm-docs for values.yaml and README.md.gotmpl."""
    made = subprocess.run(
        [tool("helm-docs"), "--dry-run", "--sort-values-order", "file", "--log-level", "error"],
        cwd=CHART,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert (CHART / "README.md").read_text() == made, "run make generate"
