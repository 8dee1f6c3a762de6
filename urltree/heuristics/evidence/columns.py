"""A page's blocks and elements as columns, each field of all: cheaper to pass over than attributes.

blocks      texts       elements  headings  link_shares  hidden  hashes
elements    tags        parents   tokens
"""

from __future__ import annotations

from typing import NamedTuple

from urltree.html.blocks import Element, TextBlock


class BlockColumns(NamedTuple):
    """The fields of `TextBlock`, each of all blocks."""

    texts: tuple[str, ...]
    elements: tuple[int, ...]
    headings: tuple[int, ...]
    link_shares: tuple[float, ...]
    hidden: tuple[bool, ...]
    hashes: tuple[int, ...]

    @classmethod
    def of(cls, blocks: tuple[TextBlock, ...]) -> BlockColumns:
        """The columns of a page's blocks."""
        return cls(*zip(*blocks, strict=True)) if blocks else cls((), (), (), (), (), ())


class ElementColumns(NamedTuple):
    """The fields of `Element`, each of all elements."""

    tags: tuple[str, ...]
    parents: tuple[int, ...]
    tokens: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, elements: tuple[Element, ...]) -> ElementColumns:
        """The columns of a page's table of elements."""
        return cls(*zip(*elements, strict=True)) if elements else cls((), (), ())

    def above(self, element: int) -> list[int]:
        """An element and all around it, from the inside."""
        found = []
        while element >= 0:
            found.append(element)
            element = self.parents[element]
        return found


def spans(blocks: BlockColumns, elements: ElementColumns) -> tuple[list[int], list[int]]:
    """The first block inside each element, and the one behind the last.

    An element stands in the table from its first block on, behind those around it: what is new
    begins with a block, and ends what was open beside it.
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
