"""CONTRIBUTING.md names files that exist, and its recipes stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = {
    part.partition("\n")[0]: part for part in TEXT.partition("## Recipes")[2].split("\n### ")[1:]
}
_PATH = re.compile(r"`([\w.-]+/[\w./-]*|\w+\.(?:md|toml|yaml))`")


def test_every_file_that_is_named_exists() -> None:
    """Each path in CONTRIBUTING.md exists, except paths with NAME, which the reader creates."""
    named = {path for path in _PATH.findall(TEXT) if "NAME" not in path and "*" not in path}
    assert len(named) > 20
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_asks_for_six_edited_files_at_most(title: str) -> None:
    """A recipe has three to six numbered steps, and names at least one file of the tests."""
    steps = re.findall(r"^\d\. ", RECIPES[title], re.MULTILINE)
    assert 3 <= len(steps) <= 6
    assert "tests/" in RECIPES[title]


def test_there_is_a_recipe_for_each_common_change() -> None:
    """CONTRIBUTING.md has a recipe for each of the five most common changes."""
    wanted = ("heuristic", "output field", "input format", "setting", "dead-letter reason")
    assert [any(word in title for title in RECIPES) for word in wanted] == [True] * len(wanted)
