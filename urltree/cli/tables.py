"""Print tables on standard output: with rich if it is installed, else as plain columns.

The extras `evaluation` and `kafka` install rich; an installation without extras works without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import click

_GAP = "  "  # space between two columns of a plain table


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: heading of the column.
        is_number: whether the cells are aligned to the right.
        is_folded: whether rich may break long texts into several lines.
    """

    name: str
    is_number: bool = False
    is_folded: bool = False


class TableRow(NamedTuple):
    """A row of a table: its cells, and the style in which rich prints the cells.

    The cells must contain no control characters, because they are printed unchanged.
    """

    cells: Sequence[str]
    style: str = ""


def print_table(columns: Sequence[Column], rows: Iterable[TableRow], width: int) -> None:
    """Print a table on standard output.

    Args:
        columns: columns of the table, from left to right.
        rows: rows of the table; each has one cell for each column.
        width: characters of a line if standard output is no terminal. A plain table ignores it.
    """
    try:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - rich is optional
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ModuleNotFoundError:
        _print_plain(columns, [row.cells for row in rows])
        return
    table = Table(box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.is_number else "left",
            overflow="fold" if column.is_folded else "ellipsis",
            no_wrap=not column.is_folded,
        )
    for row in rows:
        # with Text, rich does not read square brackets in a cell as its markup
        table.add_row(*map(Text, row.cells), style=row.style)
    Console(width=None if sys.stdout.isatty() else width, highlight=False).print(table)


def _print_plain(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a plain table; each column is as wide as its longest cell."""
    headings = [column.name for column in columns]
    widths = [max(map(len, cells)) for cells in zip(headings, *rows, strict=True)]
    for cells in (headings, ["-" * width for width in widths], *rows):
        aligned = [
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for column, cell, width in zip(columns, cells, widths, strict=True)
        ]
        click.echo(_GAP.join(aligned).rstrip())
