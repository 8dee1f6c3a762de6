"""Write successive blocks as Markdown, with the markers of list items and quotes around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile

from urltree.document import Document
from urltree.html.blocks import Element, TextBlock
from urltree.output.markdown import escaping
from urltree.output.markdown.structure import BlockType, Container, Placement, place_elements
from urltree.output.markdown.tables import TableCell, data_cells, pipe_table

# The blocks of one such element are lines of one paragraph. In other elements, such as div, each
# block is a paragraph.
_LINES = frozenset({"p", "li", "dt", "dd", "address", "figcaption", "caption", "summary"})
_MARKS = {BlockType.TERM: "**", BlockType.CAPTION: "*"}
# An empty line is always written between a block of these types and a list item after it.
_WITHOUT_ITEMS_BELOW = frozenset({BlockType.HEADING, BlockType.CODE, BlockType.CELL})
_LANGUAGE = re.compile(r"(?:highlight-source|highlight|language|lang)-([A-Za-z0-9+#]+)")
_NO_LANGUAGE = frozenset({"none", "text", "plaintext", "default"})
_LANGUAGE_DEPTH = 3  # number of elements whose classes are read: pre and the elements around it


def markdown(document: Document, boilerplate: Sequence[bool]) -> str:
    """Return the content blocks of a document as Markdown; see `urltree.output.markdown`.

    The time is linear in the size of the page.

    Args:
        document: document of the page.
        boilerplate: one flag for each block, True if the block is boilerplate.

    Raises:
        ValueError: `boilerplate` does not have one entry for each block.
    """
    blocks, elements = document.blocks, document.elements
    verdicts = enumerate(zip(blocks, boilerplate, strict=True))
    kept = [index for index, (block, dropped) in verdicts if block.text and not dropped]
    cells = data_cells(elements, blocks, kept)
    place_of = place_elements(elements, cells)
    lines = _Lines()
    for place, run in groupby(
        (blocks[index] for index in kept), key=lambda block: place_of[block.element]
    ):
        for body in _bodies(place, list(run), elements, cells):
            lines.write(place, body)
    return lines.text()


def _bodies(
    place: Placement,
    run: Sequence[TextBlock],
    elements: Sequence[Element],
    cells: Sequence[TableCell],
) -> Iterator[list[str]]:
    """Yield the lines of each Markdown block that is made of successive blocks at one place."""
    texts = [block.text for block in run]
    if place.kind is BlockType.HEADING:
        level = int(elements[place.element].tag[1])
        yield ["#" * level + " " + escaping.escape_heading(" ".join(texts))]
    elif place.kind is BlockType.CODE:
        yield _code(texts, _language(place.element, elements))
    elif place.kind is BlockType.CELL:
        yield pipe_table([(cells[block.element], block.text) for block in run])
    elif elements[place.element].tag in _LINES:
        yield _paragraph(texts, _MARKS.get(place.kind, ""))
    else:
        for text in texts:
            yield _paragraph([text], _MARKS.get(place.kind, ""))


def _paragraph(texts: Sequence[str], mark: str) -> list[str]:
    """Return the lines of a paragraph with hard breaks; `mark` is written before and after it."""
    return (mark + "\\\n".join(map(escaping.escape_line, texts)) + mark).split("\n")


def _code(texts: Sequence[str], language: str) -> list[str]:
    code = "\n".join(texts).replace("\r\n", "\n").replace("\r", "\n")
    fence = escaping.code_fence(code)
    return [fence + language, *code.split("\n"), fence]


def _language(element: int, elements: Sequence[Element]) -> str:
    """Return the language in a class name of `pre` or an element around it, or an empty string."""
    for _ in range(_LANGUAGE_DEPTH):
        for token in elements[element].tokens:
            found = _LANGUAGE.fullmatch(token)
            if found and (name := found[1].lower()) not in _NO_LANGUAGE:
                return name
        element = elements[element].parent
        if element < 0:
            break
    return ""


class _Lines:
    """The lines of Markdown that have been written.

    Attributes:
        _open: containers of the last block, each with the prefix of all lines after the first.
        _numbers: number of written items of each list.
        _others: lists with the second marker, `*` or `1)`, because they directly follow a list.
        _kind: type of the last block.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._open: list[tuple[Container, str]] = []
        self._numbers: dict[int, int] = {}
        self._others: set[int] = set()
        self._kind = BlockType.HEADING

    def text(self) -> str:
        return "\n".join(self._lines)

    def write(self, place: Placement, body: Sequence[str]) -> None:
        """Write an empty line if needed, then the lines of a block after its markers."""
        pairs = zip(self._open, place.containers, strict=False)
        common = len(list(takewhile(lambda pair: pair[0][0] is pair[1], pairs)))
        last, self._open = self._open, self._open[:common]
        first = "".join(indent for _, indent in self._open)
        new = place.containers[common:]
        follows = last[common][0] if len(last) > common else None
        if new and follows:
            self._tell_apart(follows, new[0])
        if self._lines and not self._is_tight(follows, new):
            self._lines.append(first.rstrip())
        for container in new:
            marker = self._marker(container)
            first += marker
            self._open.append((container, marker if container.parent < 0 else " " * len(marker)))
        rest = "".join(indent for _, indent in self._open)
        self._lines.append(first + body[0])
        self._lines += [rest + line if line else rest.rstrip() for line in body[1:]]
        self._kind = place.kind

    def _is_tight(self, follows: Container | None, new: Sequence[Container]) -> bool:
        """Return whether a new item follows the last block without an empty line.

        The last block is either in the item before the new item, or in the item that contains the
        new item's list. In the second case only the first item of a list has no empty line before
        it, because in CommonMark an item with a number above 1 would continue the paragraph.
        """
        if not new or new[0].parent < 0 or self._kind in _WITHOUT_ITEMS_BELOW:
            return False
        if follows is not None:
            return follows.parent == new[0].parent
        is_in_item = bool(self._open) and self._open[-1][0].parent >= 0
        return is_in_item and new[0].parent not in self._numbers

    def _tell_apart(self, last: Container, new: Container) -> None:
        """Use the second marker for a list that directly follows a list with the first marker."""
        are_alike = last.is_ordered == new.is_ordered and last.parent not in self._others
        if are_alike and min(last.parent, new.parent) >= 0 and new.parent not in self._numbers:
            self._others.add(new.parent)

    def _marker(self, container: Container) -> str:
        if container.parent < 0:
            return "> "
        number = self._numbers[container.parent] = self._numbers.get(container.parent, 0) + 1
        is_other = container.parent in self._others
        if container.is_ordered:
            return f"{number}) " if is_other else f"{number}. "
        return "* " if is_other else "- "
