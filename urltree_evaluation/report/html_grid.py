"""The tables of statistics.corpus_tables for the HTML page, equal to report.md and the CSV files.

An estimate takes two columns, one for its value and one for its ±, so that the decimal points are
aligned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from urltree_evaluation.report import formats
from urltree_evaluation.report.groups import Group
from urltree_evaluation.statistics.bootstrap import Estimate
from urltree_evaluation.statistics.grid import Grid, GridCell, cell_text

EXPLAINED: Final[dict[str, str]] = {
    "ranking": "± is half of the 95 % interval. “To the best” is the paired difference to the "
    "best extractor. The next columns are the domains won, equal and lost against it, and p of "
    "the sign test. “Successes” is the mean of each extractor's documents that are not boundary "
    "cases. “Best on domains” is the number of domains on which no extractor is better.",
    "metrics": "The ranking by other metrics; see Methods.",
    "segments": "Counts are summed over pages, so a page with more segments weighs more.",
    "boundaries": "Documents with nothing to compare. “Both empty” scores 1, all other kinds 0.",
    "whole-stream": "This table has all scored pages, not a sample, so the intervals are narrower.",
    "milestones": "The first documents lower this mean for long; the next table excludes them.",
    "milestones-latest": "The quality after n documents: the mean of the second half of them.",
    "duplicates": "Pages whose text occurred before under another id. They are not scored.",
    "pairs": "Both extractors have the same resamples, so a difference is more exact than two "
    "separate values.",
}


class HtmlCell(NamedTuple):
    """A cell of a table, converted to text for the HTML page.

    Attributes:
        text: the value.
        beside: text in the ± column; None if the table has no ± column beside this column.
        title: the interval of an estimate, shown as a tooltip; "" for other cells.
        is_text: whether the column contains text, not numbers.
        is_best: whether the cell is bold.
        is_zero: whether the value is the integer 0.
    """

    text: str
    beside: str | None
    title: str
    is_text: bool
    is_best: bool
    is_zero: bool


@dataclass(frozen=True, slots=True)
class HtmlRow:
    """A row of a table.

    Attributes:
        name: text of the first cell.
        group: group of the extractor; None if the first cell is not the name of an extractor.
        cells: the other cells.
    """

    name: str
    group: Group | None
    cells: tuple[HtmlCell, ...]


@dataclass(frozen=True, slots=True)
class HtmlGrid:
    """A table in the form that the template of the HTML page shows.

    Attributes:
        title: title of the table.
        explained: explanation below the title.
        header: for each column its heading, whether it is two columns wide, and whether it contains
            text.
        lines: the rows.
    """

    title: str
    explained: str
    header: tuple[tuple[str, bool, bool], ...]
    lines: tuple[HtmlRow, ...]


def to_html_grid(name: str, grid: Grid, groups: Mapping[str, Group]) -> HtmlGrid:
    """Convert a table for the template; `name` is the name of the table, such as "ranking"."""
    columns = [[row[at] for row in grid.rows] for at in range(len(grid.header))]
    wide = [any(isinstance(cell, Estimate) for cell in column) for column in columns]
    textual = [any(isinstance(cell, str) for cell in column) for column in columns]
    highest, lines = grid.highest(), []
    for number, row in enumerate(grid.rows):
        shown = tuple(
            _to_cell(
                row[at], is_wide=wide[at], is_text=textual[at], is_best=(number, at) in highest
            )
            for at in range(1, len(row))
        )
        first = cell_text(row[0])
        lines.append(HtmlRow(first, groups.get(first), shown))
    header = tuple(zip(grid.header, wide, textual, strict=True))
    return HtmlGrid(grid.title, EXPLAINED.get(name, ""), header, tuple(lines))


def _to_cell(cell: GridCell, *, is_wide: bool, is_text: bool, is_best: bool) -> HtmlCell:
    if isinstance(cell, Estimate):
        words, beside, title = (
            formats.three_decimals(cell.value),
            formats.plus_minus(cell),
            _interval(cell),
        )
        return HtmlCell(words, beside, title, is_text, is_best, is_zero=False)
    words, is_zero = cell_text(cell) or formats.NOTHING, isinstance(cell, int) and cell == 0
    return HtmlCell(words, "" if is_wide else None, "", is_text, is_best, is_zero)


def _interval(figure: Estimate) -> str:
    return "" if math.isnan(figure.low) else formats.interval_text(figure)
