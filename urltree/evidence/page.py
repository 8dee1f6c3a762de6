"""A page as evidence sees it: sizes, paths, repetition, title block, main element.

All lists are by block or by element, in the order of the document; a pass over blocks or elements
costs some 10 µs, so each is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from urltree.document import Document
from urltree.elements import RUNNING
from urltree.evidence.element_paths import path_below
from urltree.evidence.names import Names
from urltree.evidence.parameters import Parameters
from urltree.evidence.title_block import title_block
from urltree.path_statistics import AtPath
from urltree.text_block import NO_LETTERS, Element, TextBlock
from urltree.tree import Node

_WITHOUT_SPACES = 12  # characters a word, above which the script has no spaces: two are a word


@dataclass(slots=True)
class Page:
    """What the pieces of evidence share.

    Attributes:
        document: of these blocks and elements.
        numbers: of the heuristic; names: that count, None where they do not.
        leaf: of the document; root: of its tree.
        words: of each block; linked: those inside links; prose: those of running text, 0 in
            headings and where most is linked.
        spans: first block inside each element, and the one behind the last.
        words_in, linked_in: of all blocks inside an element.
        paths: of each element; path_of: of each block.
        at_paths: of each path on the page, what its blocks have.
        counts: pages of the site that have a block.
        repeated: whether those are more than a few.
        title: number of the title block.
        above_title: elements that hold it, numbered from the outermost, which is 1.
        marked: what the names of an element, or of one around it, say; `Kind` by element.
        main: the main element, None where the page has no prose.
        inside: blocks that stand in it; all where there is none.
        next_articles: spans of other articles that the page goes on with.
    """

    document: Document
    numbers: Parameters
    names: Names | None
    leaf: Node
    root: Node
    words: list[int]
    linked: list[float]
    prose: list[float]
    paths: list[int]
    path_of: list[int]
    counts: list[int]
    repeated: list[bool]
    title: int | None
    above_title: dict[int, int]
    marked: list[int]
    inside: list[bool]
    main: int | None = None
    next_articles: list[tuple[int, int]] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(init=False)
    words_in: Callable[[int], float] = field(init=False)
    linked_in: Callable[[int], float] = field(init=False)
    at_paths: dict[int, AtPath] = field(init=False)

    def __post_init__(self) -> None:
        """What follows from the rest."""
        self.spans = _spans(self.document.blocks, self.document.elements)
        self.words_in = self.sums(self.words)
        self.linked_in = self.sums(self.linked)
        self.at_paths = _at_paths(self)

    @classmethod
    def of(cls, document: Document, leaf: Node, numbers: Parameters, names: Names | None) -> Page:
        """A page whose marks and main element are not known yet."""
        blocks, elements = document.blocks, document.elements
        words = [_words(block.text) for block in blocks]
        linked = [size * block.link_share for size, block in zip(words, blocks, strict=True)]
        root = next(node for node in leaf.rootward() if node.parent is None)
        paths = _paths(elements)
        at_root = root.counts()
        counts = [at_root[block.hash] for block in blocks]
        prose = _prose(blocks, words, linked, numbers)
        title = title_block(blocks, prose, document.title, document.page_title)
        return cls(
            document,
            numbers,
            names,
            leaf,
            root,
            words,
            linked,
            prose,
            paths,
            [paths[block.element] for block in blocks],
            counts,
            _repeated(blocks, counts, root.support, numbers),
            title,
            {} if title is None else _from_outside(above(elements, blocks[title].element)),
            [0] * len(elements),
            [True] * len(blocks),
        )

    @property
    def in_main(self) -> list[bool]:
        """Blocks that stand in the main element: none, where the page has no main element."""
        return [False] * len(self.inside) if self.main is None else self.inside

    def kept(self, kinds: bytearray) -> int:
        """Words of the blocks that are content."""
        return sum([words for words, kind in zip(self.words, kinds, strict=True) if not kind])

    def path_by_tags(self, element: int) -> int:
        """The path of an element by tags alone."""
        elements, path = self.document.elements, 0
        for one in reversed(above(elements, element)):
            path = path_below(path, elements[one].tag, ())
        return path

    def sums(self, of_blocks: Sequence[float]) -> Callable[[int], float]:
        """From an element to the sum over all blocks inside: its blocks follow each other."""
        so_far = list(accumulate(of_blocks, initial=0.0))
        spans = self.spans
        return lambda element: so_far[spans[element][1]] - so_far[spans[element][0]]


def above(elements: tuple[Element, ...], element: int) -> list[int]:
    """An element and all around it, from the inside."""
    found = []
    while element >= 0:
        found.append(element)
        element = elements[element].parent
    return found


def _from_outside(elements: list[int]) -> dict[int, int]:
    return {element: place for place, element in enumerate(reversed(elements), 1)}


def container(elements: tuple[Element, ...], element: int) -> int:
    """The innermost element around running text, -1 where there is none."""
    while element >= 0 and elements[element].tag in RUNNING:
        element = elements[element].parent
    return element


def _words(text: str) -> int:
    words = text.count(" ") + 1
    if len(text) > _WITHOUT_SPACES * words and not text.isascii():
        return len(text) // 2
    return words


def _prose(
    blocks: tuple[TextBlock, ...], words: list[int], linked: list[float], numbers: Parameters
) -> list[float]:
    least, most_linked = numbers.prose_words, numbers.prose_linked
    return [
        size - in_links
        if size >= least and in_links <= most_linked * size and not (block.heading or block.hidden)
        else 0.0
        for block, size, in_links in zip(blocks, words, linked, strict=True)
    ]


def _paths(elements: tuple[Element, ...]) -> list[int]:
    paths: list[int] = []
    for tag, parent, tokens in elements:
        paths.append(path_below(paths[parent] if parent >= 0 else 0, tag, tokens))
    return paths


def _repeated(
    blocks: tuple[TextBlock, ...], counts: list[int], support: int, numbers: Parameters
) -> list[bool]:
    """Blocks on more pages than a few; on newspapers a few carry an author box or a series."""
    if support < numbers.repeated_from:
        return [False] * len(blocks)
    most = max(1.0, numbers.repeated_share * min(support, numbers.repeated_cap))
    return [
        count > most and block.hash != NO_LETTERS
        for block, count in zip(blocks, counts, strict=True)
    ]


def _spans(blocks: tuple[TextBlock, ...], elements: tuple[Element, ...]) -> list[tuple[int, int]]:
    first, behind = [len(blocks)] * len(elements), [0] * len(elements)
    for index in range(len(blocks) - 1, -1, -1):
        element = blocks[index].element
        first[element] = index
        if not behind[element]:
            behind[element] = index + 1
    for index in range(len(elements) - 1, 0, -1):
        parent = elements[index].parent
        if parent >= 0:
            if first[index] < first[parent]:  # noqa: PLR1730 - a third of the time of min and max
                first[parent] = first[index]
            if behind[index] > behind[parent]:  # noqa: PLR1730
                behind[parent] = behind[index]
    return list(zip(first, behind, strict=True))


def _at_paths(page: Page) -> dict[int, AtPath]:
    found: dict[int, list[float]] = {}
    for block, path, words, count, linked in zip(
        page.document.blocks, page.path_of, page.words, page.counts, page.linked, strict=True
    ):
        here = found.get(path)
        if here is None:
            here = found[path] = [0, 0, 0.0]
        here[0] += words
        here[2] += linked
        if count > 1 and block.hash != NO_LETTERS:
            here[1] += words
    return {
        path: AtPath(path, int(words), int(repeated), round(linked))
        for path, (words, repeated, linked) in found.items()
    }
