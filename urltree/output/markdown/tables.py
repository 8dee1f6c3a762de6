"""Data tables, and their rows in Markdown. A table that only serves the layout is no data table.

A table is a data table if blocks in at least two rows, and in a column after the first, are kept.
It must not contain a table, a heading, code, a quote, a definition list, or a cell of more than
MAX_CELL_BLOCKS blocks. The elements of a page include only cells with text. Therefore the cells
after an empty cell move to the left, and the row has fewer columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from urltree.html.blocks import Element, TextBlock
from urltree.html.elements import HEADINGS
from urltree.output.markdown import escaping

MAX_CELL_BLOCKS = 8  # largest number of kept blocks in one cell of a data table

_CELLS = frozenset({"td", "th"})
_NEVER_DATA = frozenset({"table", "pre", "blockquote", "dl", *HEADINGS})


class TableCell(NamedTuple):
    """The table cell of an element: the element itself, or the cell around the element.

    Attributes:
        table: index of the table's element.
        row: index of the row's element.
        column: position of the cell among the cells of the row that have text, from 0.
        element: index of the cell's element.
    """

    table: int
    row: int
    column: int
    element: int


NO_CELL = TableCell(-1, -1, -1, -1)


def data_cells(
    elements: Sequence[Element], blocks: Sequence[TextBlock], kept: Sequence[int]
) -> list[TableCell]:
    """Return for every element its cell in a data table, or NO_CELL outside of data tables.

    Args:
        elements: elements of the page; parents come before children.
        blocks: text blocks of the page.
        kept: indices of the blocks that are written.
    """
    if not any(element.tag == "table" for element in elements):
        return [NO_CELL] * len(elements)
    cells, layout = _all_cells(elements)
    rows: dict[int, set[int]] = {}
    wide: set[int] = set()
    sizes: dict[int, int] = {}
    for index in kept:
        cell = cells[blocks[index].element]
        if cell is not NO_CELL:
            rows.setdefault(cell.table, set()).add(cell.row)
            sizes[cell.element] = sizes.get(cell.element, 0) + 1
            if sizes[cell.element] > MAX_CELL_BLOCKS:
                layout.add(cell.table)
            if cell.column:
                wide.add(cell.table)
    data = {table for table in wide - layout if len(rows[table]) > 1}
    return [cell if cell.table in data else NO_CELL for cell in cells]


def _all_cells(elements: Sequence[Element]) -> tuple[list[TableCell], set[int]]:
    """Return the innermost cell of each element, and the indices of tables for layout."""
    cells: list[TableCell] = []
    table_of: list[int] = []  # innermost table of each element, or -1
    columns: dict[int, int] = {}
    layout: set[int] = set()
    for index, (tag, parent, _) in enumerate(elements):
        table = -1 if parent < 0 else table_of[parent]
        cell = NO_CELL if parent < 0 else cells[parent]
        if tag in _NEVER_DATA:
            layout.add(table)
        if tag == "table":
            table, cell = index, NO_CELL
        elif tag in _CELLS and cell is NO_CELL and elements[parent].tag == "tr" and table >= 0:
            cell = TableCell(table, parent, columns.get(parent, 0), index)
            columns[parent] = cell.column + 1
        table_of.append(table)
        cells.append(cell)
    return cells, layout


def pipe_table(texts: Sequence[tuple[TableCell, str]]) -> list[str]:
    """Return the lines of a table; the first row is the header.

    The blocks of a cell are joined by spaces. If the header has one cell less than every other row,
    an empty first cell is added to it. All other rows with fewer cells are not filled up, so that
    the size of the output is linear in the size of the input.
    """
    rows: dict[int, list[list[str]]] = {}
    for cell, text in texts:
        row = rows.setdefault(cell.row, [])
        row.extend([] for _ in range(cell.column + 1 - len(row)))
        row[cell.column].append(escaping.escape_cell(text))
    header, *body = rows.values()
    if body and all(len(row) == len(header) + 1 for row in body):
        header.insert(0, [])
    width = max(map(len, (header, *body)))
    header.extend([] for _ in range(width - len(header)))
    return [_line(header), "|" + " --- |" * width, *map(_line, body)]


def _line(row: Sequence[Sequence[str]]) -> str:
    return "| " + " | ".join([" ".join(texts) for texts in row]) + " |"
