"""The tables of statistics.corpus_tables as HTML: the same grids as in report.md and the CSV files.

A figure takes two columns, its value and its ±, so that points stand under points.
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
    "ranking": "± is half of the 95 % interval. “To the best” is the paired difference to the best "
    "extractor; beside it domains won, equal and lost against it, with p of the sign test. "
    "“Successes” averages each extractor's own documents that are no boundary case. “Best on "
    "domains”: on how many none is better.",
    "metrics": "The ranking by other measures; see Methods.",
    "segments": "Counts are summed over pages, so a page with more segments weighs more.",
    "boundaries": "Documents on which there was nothing to compare. “Both empty” counts as 1, all "
    "others as 0.",
    "whole-stream": "Every scored page, not a sample: more documents, thus narrower intervals.",
    "milestones": "A bad beginning stays in this mean for ever; the next table leaves it out.",
    "milestones-latest": "What extractors are worth by then.",
    "duplicates": "Pages whose text was said before under another id; they are in no figure.",
    "pairs": "Of the same resamples, so that a difference is surer than two figures are.",
}


class HtmlCell(NamedTuple):
    """A cell in words.

    Attributes:
        beside: what stands behind ±; None where the column has no such thing.
        title: the interval, to be pointed at.
    """

    text: str
    beside: str | None
    title: str
    is_text: bool
    is_best: bool
    is_zero: bool


@dataclass(frozen=True, slots=True)
class HtmlRow:
    """A row; the first cell is its name, and its group is known where that is an extractor's."""

    name: str
    group: Group | None
    cells: tuple[HtmlCell, ...]


@dataclass(frozen=True, slots=True)
class HtmlGrid:
    """A grid as the template shows it.

    Attributes:
        header: of each column, with whether it is two wide and whether it is text.
    """

    title: str
    explained: str
    header: tuple[tuple[str, bool, bool], ...]
    lines: tuple[HtmlRow, ...]


def to_html_grid(name: str, grid: Grid, groups: Mapping[str, Group]) -> HtmlGrid:
    """A grid, by its name among the tables of a corpus, made ready to be shown."""
    columns = [[row[at] for row in grid.rows] for at in range(len(grid.header))]
    wide = [any(isinstance(cell, Estimate) for cell in column) for column in columns]
    textual = [any(isinstance(cell, str) for cell in column) for column in columns]
    highest, lines = grid.highest(), []
    for number, row in enumerate(grid.rows):
        shown = tuple(
            _shown(row[at], is_wide=wide[at], is_text=textual[at], is_best=(number, at) in highest)
            for at in range(1, len(row))
        )
        first = cell_text(row[0])
        lines.append(HtmlRow(first, groups.get(first), shown))
    header = tuple(zip(grid.header, wide, textual, strict=True))
    return HtmlGrid(grid.title, EXPLAINED.get(name, ""), header, tuple(lines))


def _shown(cell: GridCell, *, is_wide: bool, is_text: bool, is_best: bool) -> HtmlCell:
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
