"""A page for NCE: the nodes of its DOM, numbered in the order of a depth-first search.

    <div>One <a>two</a></div>     id   0      1      2     3
                                  tag  div    ""     a     ""          "" is a text
                                  end  4      2      4     4           ids of the subtree: id … end
                            characters 0      0      4     4     7     before the id (sums)

A subtree is a range of ids, so its text length and link density are differences of two sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from urltree.html.elements import DROPPED, INLINE
from urltree_evaluation.extractors.html_events import feed_events

Span = tuple[int, int]  # first id, and the id after the last one
Forest = list[Span]  # subtrees in the order of the page


@dataclass(slots=True)
class PageTree:
    """The nodes of a page by id, without elements that have no visible text, such as scripts.

    Attributes:
        tags: tag of each node; "" for a text.
        parents: parent of each node; -1 for <html>.
        ends: first id after each subtree.
        texts: text of each node with white space collapsed; "" for an element. A text begins with a
            space if white space was before it, and with a newline if a block begins there.
        attributes: attributes of each element that has any.
        characters: number of characters of text before each id; the last item is the total.
        linked: number of characters inside <a> before each id; the last item is the total.
    """

    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    attributes: dict[int, Mapping[str, str]] = field(default_factory=dict)
    characters: list[int] = field(default_factory=lambda: [0])
    linked: list[int] = field(default_factory=lambda: [0])

    def size(self, node: int) -> int:
        """Return the number of characters in the subtree of a node."""
        return self.characters[self.ends[node]] - self.characters[node]

    def link_density(self, node: int) -> float:
        """Return the share of a subtree's characters inside <a>; 0 if the subtree has no text."""
        size = self.size(node)
        return (self.linked[self.ends[node]] - self.linked[node]) / size if size else 0.0

    def children(self, node: int) -> Iterable[int]:
        """Yield the children of a node, in order."""
        child, end = node + 1, self.ends[node]
        while child < end:
            yield child
            child = self.ends[child]

    def text(self, forest: Forest) -> str:
        """Return the text of a forest, one line for each block."""
        return "".join("".join(self.texts[start:stop]) for start, stop in forest).strip()


def parse_page(html: str) -> PageTree:
    """Parse a page and return its nodes.

    Raises:
        PageError: `too-large`, for markup that cannot be parsed in bounded time.
    """
    builder = _Builder()
    feed_events(html, builder)
    return builder.tree


class _Builder:
    """A handler of parser events that builds the tree.

    Attributes:
        _path: ids of the open elements.
        _chunks: pieces of the current text.
        _links: number of open <a> elements.
        _dropped: number of open elements whose content is ignored.
        _breaks: whether a block began or ended since the last text.
        _spaced: whether there was white space since the last text.
    """

    def __init__(self) -> None:
        self.tree = PageTree()
        self._path = [-1]
        self._chunks: list[str] = []
        self._links = self._dropped = 0
        self._breaks = self._spaced = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._end_text()
        self._dropped += tag in DROPPED
        if self._dropped:
            return
        self._links += tag == "a"
        self._breaks |= tag not in INLINE
        if attributes:
            self.tree.attributes[len(self.tree.tags)] = dict(attributes)
        self._path.append(self._add(tag, "", 0))

    def end(self, tag: str) -> None:
        self._end_text()
        if not self._dropped:
            self.tree.ends[self._path.pop()] = len(self.tree.tags)
            self._links -= tag == "a"
            self._breaks |= tag not in INLINE
        self._dropped -= tag in DROPPED

    def data(self, text: str) -> None:
        if not self._dropped:
            self._chunks.append(text)

    def close(self) -> None:
        """Do nothing, because all elements have ended."""

    def _end_text(self) -> None:
        """Add the current text as a node; white space alone only separates words."""
        if not self._chunks:
            return
        whole = "".join(self._chunks)
        self._chunks.clear()
        text = " ".join(whole.split())
        self._spaced |= whole[0].isspace()
        if text:
            before = "\n" if self._breaks else " " if self._spaced else ""
            self._add("", before + text, len(text))
            self._breaks, self._spaced = False, whole[-1].isspace()

    def _add(self, tag: str, text: str, size: int) -> int:
        tree, node = self.tree, len(self.tree.tags)
        tree.tags.append(tag)
        tree.parents.append(self._path[-1])
        tree.ends.append(node + 1)
        tree.texts.append(text)
        tree.characters.append(tree.characters[-1] + size)
        tree.linked.append(tree.linked[-1] + (size if self._links else 0))
        return node
