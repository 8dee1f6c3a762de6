"""A table of cells that can be written as Markdown for readers, or as CSV for programs.

    | extractor |         F1 |     p |        extractor,F1,F1 low,F1 high,p
    | --------- | ---------: | ----: |        justext,0.912345,0.901234,0.923456,0.0004
    | justext   | .912 ±.011 | <.001 |

Unknown values are empty cells in both formats. Names of extractors and domains are untrusted text,
so they are escaped and cannot act as markup or as formulas.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from urltree_evaluation.statistics.bootstrap import Estimate

GridCell = str | int | float | Estimate | None

_DIGITS = 6  # significant digits in CSV, more than the intervals of 1,000 resamples are exact to
_MARKUP = re.compile(r"([\\`*\[\]|])")
_FORMULA = ("=", "+", "-", "@")  # start of a formula in spreadsheets (OWASP, CSV injection)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table to show.

    Attributes:
        title: title on one line.
        header: unique heading of each column.
        rows: the rows, each with one cell for each column; None and NaN are shown as empty cells.
        best: headings of the columns in which the highest cell is bold in Markdown.
        is_best_in_row: whether to make the highest cell of each row bold instead. Only the cells in
            the columns of `best` are compared.
    """

    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[GridCell]]
    best: frozenset[str] = frozenset()
    is_best_in_row: bool = False

    def markdown(self) -> str:
        """Return the table as Markdown with aligned columns; an estimate is value ± half width."""
        texts = [[escape_markdown(cell_text(cell)) for cell in row] for row in self.rows]
        for row, column in self.highest():
            texts[row][column] = f"**{texts[row][column]}**"
        header = [escape_markdown(title) for title in self.header]
        widths = [max(3, *map(len, column)) for column in zip(header, *texts, strict=True)]
        is_number = [self._is_number(column) for column in range(len(header))]
        rule = [
            "-" * (width - 1) + ":" if right else "-" * width
            for width, right in zip(widths, is_number, strict=True)
        ]
        lines = [
            [
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, is_number, strict=True)
            ]
            for line in (header, rule, *texts)
        ]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def csv(self) -> str:
        """Return the table as CSV; estimates become three columns: value, low and high."""
        out = io.StringIO()
        write = csv.writer(out, lineterminator="\n").writerow
        wide = [any(isinstance(row[at], Estimate) for row in self.rows) for at in self._columns]
        titles = zip(self.header, wide, strict=True)
        write([name for title, is_wide in titles for name in _csv_headings(title, is_wide=is_wide)])
        for row in self.rows:
            cells = zip(row, wide, strict=True)
            write([each for cell, is_wide in cells for each in _csv_cells(cell, is_wide=is_wide)])
        return out.getvalue()

    @property
    def _columns(self) -> range:
        return range(len(self.header))

    def _is_number(self, column: int) -> bool:
        return not any(isinstance(row[column], str) for row in self.rows)

    def highest(self) -> set[tuple[int, int]]:
        """Return the (row, column) of each bold cell."""
        columns = [column for column in self._columns if self.header[column] in self.best]
        lines = [[(row, column) for row in range(len(self.rows))] for column in columns]
        if self.is_best_in_row:
            lines = [list(line) for line in zip(*lines, strict=True)]
        return {place for line in lines for place in self._highest_of(line)}

    def _highest_of(self, line: list[tuple[int, int]]) -> list[tuple[int, int]]:
        numbers = {place: _value(self.rows[place[0]][place[1]]) for place in line}
        known = {place: value for place, value in numbers.items() if not math.isnan(value)}
        return [place for place, value in known.items() if value == max(known.values())]


def cell_text(cell: GridCell) -> str:
    """Return a cell in the style of papers: ".963 ±.012", "-.004", "<.001", "1,234"."""
    if isinstance(cell, Estimate):
        value = decimals(cell.value)
        return f"{value} ±{decimals(cell.half_width)}" if value else ""
    if isinstance(cell, float):
        return "<.001" if 0 < cell < 0.0005 else decimals(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell or ""


def decimals(number: float) -> str:
    """Return a number with three decimals and without a leading zero; "" for NaN."""
    if math.isnan(number):
        return ""
    sign = "-" if round(number, 3) < 0 else ""
    return sign + f"{abs(number):.3f}".removeprefix("0")


def _value(cell: GridCell) -> float:
    """Return the number by which a cell is compared; NaN if the cell is not a measurement."""
    number = cell.value if isinstance(cell, Estimate) else cell
    return number if isinstance(number, float) else math.nan


def escape_markdown(plain: str) -> str:
    """Escape text for a Markdown cell, so that the cell has no image, link, HTML or line break."""
    return _MARKUP.sub(r"\\\1", " ".join(plain.split())).replace("<", "&lt;")


def _csv_headings(title: str, *, is_wide: bool) -> list[str]:
    title = _escape_formula(title)
    return [title, f"{title} low", f"{title} high"] if is_wide else [title]


def _csv_cells(cell: GridCell, *, is_wide: bool) -> list[str | int]:
    numbers: Sequence[GridCell] = cell if isinstance(cell, Estimate) else (cell,)
    missing = 3 - len(numbers) if is_wide else 0
    return [_csv_number(number) for number in numbers] + [""] * missing


def _csv_number(cell: GridCell) -> str | int:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.{_DIGITS}g}"
    if isinstance(cell, str):
        return _escape_formula(cell)
    return "" if cell is None or isinstance(cell, Estimate) else cell


def _escape_formula(plain: str) -> str:
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain
