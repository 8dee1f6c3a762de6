"""The structure of a page: the type of each block, and the lists, quotes and tables around it.

html > body > ol > li > p      a paragraph, in the item li of the list ol
                        pre    code, in the same item
              table > tr > td  a cell, if the table is a data table
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from urltree.html.blocks import Element
from urltree.html.elements import HEADINGS
from urltree.output.markdown.tables import NO_CELL, TableCell

# Largest number of nested containers; deeper ones are ignored, because each container indents every
# line of its blocks, and markdown-it reads at most 20 levels (a list item takes two of them).
MAX_CONTAINERS = 8

_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_CONTAINERS = frozenset({"li", "dd", "blockquote"})


class BlockType(Enum):
    """The type of a block in Markdown."""

    PARAGRAPH = "paragraph"
    TERM = "term"
    CAPTION = "caption"
    HEADING = "heading"
    CODE = "code"
    CELL = "cell"


_OPENS = {
    "dt": BlockType.TERM,
    "figcaption": BlockType.CAPTION,
    "caption": BlockType.CAPTION,
    "pre": BlockType.CODE,
    **dict.fromkeys(HEADINGS, BlockType.HEADING),
}
# Types of elements whose descendants have the same type, whatever their tags are.
_WHOLE = frozenset({BlockType.HEADING, BlockType.CODE, BlockType.CELL})


class Container(NamedTuple):
    """A list item or a quote.

    Attributes:
        element: index of the element of the list item or quote.
        parent: for an item, index of its list, or of its parent if it is in no list; for a quote,
            -1.
        is_ordered: whether the items of the list are numbered.
    """

    element: int
    parent: int = -1
    is_ordered: bool = False


class Placement(NamedTuple):
    """The place of an element's blocks in the structure.

    Attributes:
        kind: type of the blocks.
        element: index of the heading, `pre` or table; for paragraphs, of the innermost element.
        containers: list items and quotes around the blocks, the outermost first.
        items_of: index of the list to which items below the element belong, -1 outside of lists.
    """

    kind: BlockType
    element: int
    containers: tuple[Container, ...]
    items_of: int


def place_elements(elements: Sequence[Element], cells: Sequence[TableCell]) -> list[Placement]:
    """Return the placement of every element.

    Args:
        elements: elements of the page; parents come before children.
        cells: table cell of every element, see `urltree.output.markdown.tables`.
    """
    found: list[Placement] = []
    for index, element in enumerate(elements):
        above = _TOP if element.parent < 0 else found[element.parent]
        found.append(_place(index, elements, above, cells[index]))
    return found


_TOP = Placement(BlockType.PARAGRAPH, -1, (), -1)


def _place(index: int, elements: Sequence[Element], above: Placement, cell: TableCell) -> Placement:
    tag, parent, _ = elements[index]
    if above.kind in _WHOLE:
        return above
    if cell is not NO_CELL:
        return Placement(BlockType.CELL, cell.table, above.containers, -1)
    kind = _OPENS.get(tag, above.kind)
    if tag in _LISTS:
        return Placement(kind, index, above.containers, index)
    containers, items_of = above.containers, above.items_of
    if tag == "dd" and items_of < 0 and containers and elements[containers[-1].element].tag == "dd":
        # libxml2 does not close a dd before the next dd, so the second dd is inside the first
        containers, items_of = containers[:-1], containers[-1].parent
    if tag not in _CONTAINERS or len(containers) == MAX_CONTAINERS:
        return Placement(kind, index, containers, items_of)
    if tag == "blockquote":
        container = Container(index)
    else:
        items_of = parent if items_of < 0 else items_of
        container = Container(index, items_of, tag == "li" and elements[items_of].tag == "ol")
    return Placement(kind, index, (*containers, container), -1)
