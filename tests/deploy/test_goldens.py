"""The goldens are what helm renders: `URLTREE_REWRITE_RENDERED=1` writes them anew."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.deploy.chart import CHART, RENDERED, SETS, render, sources_digest
from tests.deploy.conftest import FindTool

pytestmark = pytest.mark.deploy

REWRITE = "URLTREE_REWRITE_RENDERED"


@pytest.mark.parametrize("values", SETS)
def test_a_golden_is_what_helm_renders(values: str, tool: FindTool) -> None:
    """To the letter: a change of the chart shows in review as a change of what it makes."""
    rendered = render(tool("helm"), values)
    assert rendered.returncode == 0, rendered.stderr
    text = f"# Rendered from sources {sources_digest()}\n{rendered.stdout}"
    path = RENDERED / f"{values}.yaml"
    if os.environ.get(REWRITE):
        path.write_text(text)
    assert path.read_text() == text


def test_the_readme_is_what_helm_docs_makes(tool: FindTool) -> None:
    """From values.yaml and README.md.gotmpl."""
    made = subprocess.run(
        [tool("helm-docs"), "--dry-run", "--sort-values-order", "file", "--log-level", "error"],
        cwd=CHART,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if os.environ.get(REWRITE):
        (CHART / "README.md").write_text(made)
    assert (CHART / "README.md").read_text() == made
