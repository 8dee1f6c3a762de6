"""The blocks and elements of a page as columns: one tuple for each field.

blocks      texts       elements  headings  link_shares  hidden  hashes
elements    tags        parents   tokens

A loop over a column is faster than a loop that reads an attribute of each object.
"""

from __future__ import annotations

from typing import NamedTuple

from urltree.html.blocks import Element, TextBlock


class BlockColumns(NamedTuple):
    """The fields of `TextBlock` as columns, in the order of the blocks."""

    texts: tuple[str, ...]
    elements: tuple[int, ...]
    headings: tuple[int, ...]
    link_shares: tuple[float, ...]
    hidden: tuple[bool, ...]
    hashes: tuple[int, ...]

    @classmethod
    def of(cls, blocks: tuple[TextBlock, ...]) -> BlockColumns:
        """Return the columns of a page's blocks."""
        return cls(*zip(*blocks, strict=True)) if blocks else cls((), (), (), (), (), ())


class ElementColumns(NamedTuple):
    """The fields of `Element` as columns, in the order of the page's table of elements."""

    tags: tuple[str, ...]
    parents: tuple[int, ...]
    tokens: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, elements: tuple[Element, ...]) -> ElementColumns:
        """Return the columns of a page's elements."""
        return cls(*zip(*elements, strict=True)) if elements else cls((), (), ())

    def above(self, element: int) -> list[int]:
        """Return an element and its ancestors, from the inside to the outside."""
        found = []
        while element >= 0:
            found.append(element)
            element = self.parents[element]
        return found


def spans(blocks: BlockColumns, elements: ElementColumns) -> tuple[list[int], list[int]]:
    """Return, for each element, the index of its first block and the index after its last block.

    The table lists the elements in the order of their first blocks, ancestors first. So an element
    with a new index begins at the current block. Elements that were open until then, and that are
    not among its ancestors, end there.
    """
    parents, first = elements.parents, list[int]()
    behind = [len(blocks.elements)] * len(parents)
    newest = innermost = -1
    for index, element in enumerate(blocks.elements):
        stays = element
        if element > newest:
            stays = parents[newest + 1]
            first += [index] * (element - newest)
            newest = element
        while innermost > stays:
            behind[innermost] = index
            innermost = parents[innermost]
        innermost = element
    return first, behind
