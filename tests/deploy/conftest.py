"""Fixtures for the tests of the chart: the tools of `deploy/tools`, and helm's output.

A test whose tool is not installed is skipped with the command that installs the tool.
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
    """Return a function that finds a tool by its name. If there is none, it skips the test."""

    def find_or_skip(name: str) -> Path:
        try:
            return find(name)
        except NotInstalledError as error:
            pytest.skip(str(error))

    return find_or_skip


@pytest.fixture(scope="session")
def crds(tool: FindTool) -> list[Path]:
    """Return the definitions of all custom resources that the chart can render."""
    folders = (tool("keda-crds"), tool("prometheus-operator-crds"), Path(__file__).parent / "crds")
    return [crd for folder in folders for crd in sorted(folder.glob("*.yaml"))]


@pytest.fixture
def rendered(tool: FindTool) -> Render:
    """Return a function that renders the chart with a set of values and arguments of helm."""

    def render_or_fail(values: str, *arguments: str) -> str:
        done = render(tool("helm"), values, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return render_or_fail
