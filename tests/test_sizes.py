"""The table "Sizes" of docs/operations.md: each figure is the result of its formula."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "operations.md"
COLUMNS = ("175", "10,000", "100,000")

Row = tuple[str, str, list[str]]


def _rows() -> list[Row]:
    """Return the rows of the table: name, formula, and one cell for each example."""
    section = PAGE.read_text().split("\n## Sizes\n")[1].split("\n## ")[0]
    table = [line.strip("|").split("|") for line in section.splitlines() if line[:1] == "|"]
    lines = [[cell.strip() for cell in line] for line in table]
    (_, _, *columns), _, *rows = lines
    assert tuple(columns) == COLUMNS
    return [(what, formula.strip("`"), cells) for what, formula, *cells in rows]


def _inputs(column: int) -> dict[str, float]:
    """Return the numbers that the formulas of an example use, by their names in the formulas."""
    known = {"D": _number(COLUMNS[column])}
    for what, _, cells in _rows():
        if name := re.match(r"`([A-Z]|n)`", what):
            known[name[1]] = _number(cells[column])
        elif what.startswith("workers"):
            known["workers"] = _number(cells[column].split()[0])
    return known


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


@pytest.mark.parametrize("column", range(3), ids=COLUMNS)
def test_each_figure_is_what_its_arithmetic_gives(column: int) -> None:
    """Each figure of the table is the result of its formula, to the digits that are shown."""
    known = _inputs(column)
    computed = {what: formula for what, formula, _ in _rows() if formula}
    assert len(computed) == 13
    for what, formula, cells in _rows():
        if formula:
            value = eval(formula, {"min": min, "max": max}, known)  # noqa: S307 - our own document
            assert _number(cells[column]) == pytest.approx(value, rel=0.06, abs=0.005), what
