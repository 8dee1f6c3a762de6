"""What the tests of the chart share: the tools of `deploy/tools`, and the chart as helm renders it.

A tool that is not installed skips the test, and the reason names the command that installs it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.tools.chart import render
from deploy.tools.install import NotInstalledError, find

FindTool = Callable[[str], Path]
Render = Callable[..., str]


@pytest.fixture(scope="session")
def tool() -> FindTool:
    """Finds a tool of tools.toml by its name, or skips the test that asks."""

    def find_or_skip(name: str) -> Path:
        try:
            return find(name)
        except NotInstalledError as error:
            pytest.skip(str(error))

    return find_or_skip


@pytest.fixture(scope="session")
def crds(tool: FindTool) -> list[Path]:
    """Definitions of all custom resources that the chart can render."""
    folders = (tool("keda-crds"), tool("prometheus-operator-crds"), Path(__file__).parent / "crds")
    return [crd for folder in folders for crd in sorted(folder.glob("*.yaml"))]


@pytest.fixture
def rendered(tool: FindTool) -> Render:
    """Renders the chart as it is now, with one of the value sets and further arguments of helm."""

    def render_or_fail(values: str, *arguments: str) -> str:
        done = render(tool("helm"), values, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return render_or_fail
