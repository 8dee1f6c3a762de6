"""Tables on stdout: drawn by rich where it is installed, as plain columns where it is not.

rich comes with the extras `evaluation` and `kafka`; the plain installation works without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import click

_GAP = "  "  # between two columns of a plain table


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: the heading.
        is_number: whether the column is aligned to the right.
        is_folded: whether rich may break long texts into several lines.
    """

    name: str
    is_number: bool = False
    is_folded: bool = False


class TableRow(NamedTuple):
    """A row of a table: its cells, and the style in which rich prints them.

    The cells are printed as they are, so they must contain no control characters.
    """

    cells: Sequence[str]
    style: str = ""


def print_table(columns: Sequence[Column], rows: Iterable[TableRow], width: int) -> None:
    """Print a table on stdout.

    Args:
        columns: in order, from left to right.
        rows: with one cell for each column.
        width: characters a line if stdout is no terminal; a plain table ignores it.
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
        # Text: square brackets in a page's own text are no markup of rich
        table.add_row(*map(Text, row.cells), style=row.style)
    Console(width=None if sys.stdout.isatty() else width, highlight=False).print(table)


def _print_plain(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print columns as wide as their longest cell, with a line of dashes below the headings."""
    headings = [column.name for column in columns]
    widths = [max(map(len, cells)) for cells in zip(headings, *rows, strict=True)]
    for cells in (headings, ["-" * width for width in widths], *rows):
        aligned = [
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for column, cell, width in zip(columns, cells, widths, strict=True)
        ]
        click.echo(_GAP.join(aligned).rstrip())
