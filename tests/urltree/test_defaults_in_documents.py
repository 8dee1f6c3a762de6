"""The defaults in the documentation are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from urltree import Eviction, Extractor
from urltree.extractor import MEMORY
from urltree.heuristics.registry import DEFAULT
from urltree.tree.window import DAY

ROOT = Path(__file__).parents[2]
LIBRARY = (ROOT / "docs" / "library.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")

OPTIONS = dict(Extractor.__init__.__kwdefaults__ or {})
DOCUMENTED = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", LIBRARY, re.MULTILINE))


def shown(value: object) -> str:
    """Return a default as the table of options shows it."""
    if value == Eviction():
        return "`urltree.Eviction()`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value!r}`"


@pytest.mark.parametrize("option", sorted(OPTIONS.keys() - {"memory"}))
def test_the_default_of_each_option_is_documented(option: str) -> None:
    """The second column of the options table shows the default of each keyword argument."""
    assert DOCUMENTED[option] == shown(OPTIONS[option])


def test_the_default_of_memory_is_documented() -> None:
    """The options table shows the default of `memory` in MiB."""
    assert OPTIONS["memory"] == MEMORY
    assert DOCUMENTED["memory"] == f"{MEMORY >> 20} MiB"


def test_the_limits_of_the_default_eviction_are_documented() -> None:
    """The row of `eviction` in the options table contains the three default limits."""
    limits = Eviction()
    row = next(line for line in LIBRARY.splitlines() if line.startswith("| `eviction` |"))
    assert f"{limits.max_documents:,}" in row
    assert f"{limits.max_age // DAY} days" in row
    assert f"newest {limits.keep} " in row


@pytest.mark.parametrize("text", [LIBRARY, README], ids=["library.md", "README.md"])
def test_one_heuristic_is_called_the_default(text: str) -> None:
    """Of the table rows that name a heuristic, only the default's row contains `the default`."""
    rows = [line for line in text.splitlines() if line.startswith("|") and "the default" in line]
    assert [re.findall(r"`([a-z-]+)`", row)[0] for row in rows] == [DEFAULT]
