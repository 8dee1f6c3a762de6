"""The house is in order: imports go down, types hold, files stay short enough to read."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
OLDEST = "3.11.0"  # Python; pyproject.toml and README say 3.11
PRODUCT = ("urltree", "models", "agents", "demo")


@pytest.mark.parametrize(
    "command",
    [
        ["lint-imports"],
        ["mypy"],
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
    ],
    ids=" ".join,
)
def test_a_tool_finds_nothing(command: list[str]) -> None:
    """import-linter, mypy and ruff, as pyproject.toml configures them."""
    name, *arguments = command
    ran = subprocess.run(
        [BIN / name, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("document", "lines"), [("README.md", 200), ("DESIGN.md", 250)])
def test_a_document_is_read_in_one_sitting(document: str, lines: int) -> None:
    """What a newcomer reads first is short (issue 3)."""
    assert len((ROOT / document).read_text().splitlines()) <= lines


def test_every_file_is_read_in_one_sitting() -> None:
    """No file of the product has more than 250 lines; what grows beyond it is two things."""
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for floor in (*PRODUCT, "bench")
        for path in (ROOT / floor).rglob("*.py")
    }
    assert len(sizes) > len(PRODUCT)
    assert {name: lines for name, lines in sizes.items() if lines > 250} == {}


def test_every_dependency_runs_on_the_oldest_python() -> None:
    """Debian 12 has 3.11.2, for which constraints.txt once named what asks for 3.11.5."""
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().split()}
    found = {one.name: one.metadata["Requires-Python"] for one in distributions()}
    asked = {name: asks for name, asks in found.items() if name in pinned and asks}
    assert len(asked) > len(pinned) / 2
    too_new = {name: asks for name, asks in asked.items() if OLDEST not in SpecifierSet(asks)}
    assert too_new == {}
