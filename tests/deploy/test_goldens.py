"""The goldens are what helm renders: `URLTREE_REWRITE_RENDERED=1` writes them anew."""

from __future__ import annotations

import os

import pytest

from tests.deploy.chart import RENDERED, SETS, render, sources_digest
from tests.deploy.conftest import FindTool


@pytest.mark.deploy
@pytest.mark.parametrize("values", SETS)
def test_a_golden_is_what_helm_renders(values: str, tool: FindTool) -> None:
    """To the letter: a change of the chart shows in review as a change of what it makes."""
    rendered = render(tool("helm"), values)
    assert rendered.returncode == 0, rendered.stderr
    text = f"# Rendered from sources {sources_digest()}\n{rendered.stdout}"
    path = RENDERED / f"{values}.yaml"
    if os.environ.get("URLTREE_REWRITE_RENDERED"):
        path.write_text(text)
    assert path.read_text() == text
