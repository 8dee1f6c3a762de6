"""The features of a page that the signals use: sizes, paths, repetition, title block, main element.

Most lists have one entry for each block or each element, in document order. A pass over all blocks
or elements takes about 10 µs, so each feature is computed only once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, repeat
from operator import mul

from urltree.document import Document
from urltree.heuristics.evidence.columns import BlockColumns, ElementColumns, spans
from urltree.heuristics.evidence.element_paths import path_and_kind
from urltree.heuristics.evidence.names import Names
from urltree.heuristics.evidence.parameters import Parameters
from urltree.heuristics.evidence.title_block import find_title_block
from urltree.html.blocks import NO_LETTERS
from urltree.html.elements import RUNNING
from urltree.tree.path_statistics import PathCounts
from urltree.tree.url_tree import Node

# If a text has more characters per word than this, its script has no spaces between words. Two of
# its characters then count as one word.
_WITHOUT_SPACES = 12
_at_path = partial(tuple.__new__, PathCounts)  # a third of the time of PathCounts() (measured)


@dataclass(slots=True)
class PageFeatures:
    """The features of a page.

    Attributes:
        document: document of the page.
        blocks: blocks of the page as columns.
        elements: elements of the page as columns.
        parameters: thresholds and weights of the heuristic.
        names: words that have a meaning in class names; None to ignore class names.
        leaf: the document's node in the URL tree.
        root: the root of that tree.
        site_counts: number of the site's documents by block hash.
        words: words of each block.
        linked: words of each block inside links.
        prose: words of running text of each block, without words in links. It is 0 for headings,
            hidden blocks, blocks of few words, and blocks that are mostly links.
        prose_blocks: indices of the blocks with running text.
        letterless: indices of the blocks without a letter.
        paths: path of each element.
        named: kind of boilerplate of each element by its own tag and names.
        path_of: path of the element of each block.
        counts: number of the site's documents that contain each block.
        repeated: whether each block is on more than a few pages of the site.
        title: index of the title block, None if there is none.
        title_ancestors: the elements that contain the title block, numbered from the outermost (1).
        marked: kind of boilerplate of each element by its own tag and names, or by those of an
            element around it (`marks.py`).
        inside: whether each block belongs to the main element; True for all blocks if there is no
            main element.
        main: index of the main element, None if there is none.
        next_articles: spans of blocks of other articles that follow the page's own article.
        first: index of the first block inside each element.
        end: index after the last block inside each element.
        words_in: function that returns the number of words inside an element.
        linked_in: function that returns the number of words in links inside an element.
        path_counts: numbers of words on this page by path.
    """

    document: Document
    blocks: BlockColumns
    elements: ElementColumns
    parameters: Parameters
    names: Names | None
    leaf: Node
    root: Node
    site_counts: Counter[int]
    words: list[int]
    linked: list[float]
    prose: list[float]
    prose_blocks: list[int]
    letterless: list[int]
    paths: list[int]
    named: list[int]
    path_of: list[int]
    counts: list[int]
    repeated: list[bool]
    title: int | None
    title_ancestors: dict[int, int]
    marked: list[int]
    inside: list[bool]
    main: int | None = None
    next_articles: list[tuple[int, int]] = field(default_factory=list)
    first: list[int] = field(init=False)
    end: list[int] = field(init=False)
    words_in: Callable[[int], float] = field(init=False)
    linked_in: Callable[[int], float] = field(init=False)
    path_counts: dict[int, PathCounts] = field(init=False)

    def __post_init__(self) -> None:
        """Compute the features that follow from the others."""
        self.first, self.end = spans(self.blocks, self.elements)
        self.words_in = self.sums(self.words)
        self.linked_in = self.sums(self.linked)
        self.path_counts = _at_paths(self)

    @classmethod
    def of(
        cls, document: Document, leaf: Node, parameters: Parameters, names: Names | None
    ) -> PageFeatures:
        """Return the features of a page without marks and without a main element."""
        blocks, elements = BlockColumns.of(document.blocks), ElementColumns.of(document.elements)
        words = _words(blocks.texts)
        linked = list(map(mul, words, blocks.link_shares))
        root = next(node for node in leaf.rootward() if node.parent is None)
        paths, named = _paths_and_kinds(elements, names)
        site_counts = root.counts()
        counts = list(map(site_counts.__getitem__, blocks.hashes))
        letterless = [n for n, one in enumerate(blocks.hashes) if one == NO_LETTERS]
        prose, prose_blocks = _prose(blocks, words, linked, parameters)
        title = find_title_block(blocks, prose, document.title, document.page_title)
        return cls(
            document,
            blocks,
            elements,
            parameters,
            names,
            leaf,
            root,
            site_counts,
            words,
            linked,
            prose,
            prose_blocks,
            letterless,
            paths,
            named,
            list(map(paths.__getitem__, blocks.elements)),
            counts,
            _repeated(counts, letterless, root.support, parameters),
            title,
            {} if title is None else _from_outside(elements.above(blocks.elements[title])),
            [0] * len(paths),
            [True] * len(words),
        )

    @property
    def in_main(self) -> list[bool]:
        """Whether each block belongs to the main element; False for all if there is none."""
        return [False] * len(self.inside) if self.main is None else self.inside

    def kept(self, kinds: bytearray) -> int:
        """Return the number of words in the blocks that are content by their kinds."""
        return sum([words for words, kind in zip(self.words, kinds, strict=True) if not kind])

    def path_by_tags(self, element: int) -> int:
        """Return the path of an element made of tags only, without class names."""
        tags, path = self.elements.tags, 0
        for one in reversed(self.elements.above(element)):
            path, _ = path_and_kind(path, tags[one], (), None)
        return path

    def paths_by_tags(self) -> list[int]:
        """Return the paths of all elements made of tags only, without class names."""
        without_tokens = self.elements._replace(tokens=((),) * len(self.paths))
        return _paths_and_kinds(without_tokens, None)[0]

    def container(self, element: int) -> int:
        """Return the element or its nearest ancestor that is not running text; -1 without one."""
        tags, parents = self.elements.tags, self.elements.parents
        while element >= 0 and tags[element] in RUNNING:
            element = parents[element]
        return element

    def last_inside(self, element: int) -> int:
        """Return the index of an element's last descendant, or of the element if it has none.

        An element and its descendants are contiguous in the table.
        """
        return max(self.blocks.elements[self.first[element] : self.end[element]])

    def sums(self, of_blocks: Sequence[float]) -> Callable[[int], float]:
        """Return a function that sums the values of the blocks inside an element.

        The function is fast, because the blocks inside an element are contiguous.
        """
        so_far = list(accumulate(of_blocks, initial=0.0))
        first, behind = self.first, self.end
        return lambda element: so_far[behind[element]] - so_far[first[element]]


def _from_outside(elements: list[int]) -> dict[int, int]:
    return {element: place for place, element in enumerate(reversed(elements), 1)}


def _words(texts: Sequence[str]) -> list[int]:
    spaces = map(str.count, texts, repeat(" "))
    return [
        words if len(text) <= _WITHOUT_SPACES * words or text.isascii() else len(text) // 2
        for text, before in zip(texts, spaces, strict=True)
        for words in [before + 1]
    ]


def _prose(
    blocks: BlockColumns, words: list[int], linked: list[float], parameters: Parameters
) -> tuple[list[float], list[int]]:
    least, most_linked = parameters.prose_words, parameters.prose_linked
    prose, prose_blocks = [0.0] * len(words), []
    for index, size in enumerate(words):
        if size >= least and linked[index] <= most_linked * size:
            unlinked = size - linked[index]
            if unlinked and not (blocks.headings[index] or blocks.hidden[index]):
                prose[index] = unlinked
                prose_blocks.append(index)
    return prose, prose_blocks


def _paths_and_kinds(elements: ElementColumns, names: Names | None) -> tuple[list[int], list[int]]:
    paths: list[int] = []
    kinds: list[int] = []
    for tag, parent, tokens in zip(*elements, strict=True):
        path, kind = path_and_kind(paths[parent] if parent >= 0 else 0, tag, tokens, names)
        paths.append(path)
        kinds.append(kind)
    return paths, kinds


def _repeated(
    counts: list[int], letterless: list[int], support: int, parameters: Parameters
) -> list[bool]:
    """Return whether each block is on more than a few pages.

    A few pages are allowed, because a newspaper has the same author box or the same name of a
    series on a few pages.
    """
    if support < parameters.repeated_from:
        return [False] * len(counts)
    most = max(1.0, parameters.repeated_share * min(support, parameters.repeated_cap))
    repeated = [count > most for count in counts]
    for index in letterless:
        repeated[index] = False
    return repeated


def _at_paths(page: PageFeatures) -> dict[int, PathCounts]:
    """Return the numbers of words at each path. Paths are in the order of their first blocks."""
    words = dict.fromkeys(page.path_of, 0)
    repeated, linked = words.copy(), dict.fromkeys(page.path_of, 0.0)
    for path, size, count, block_hash in zip(
        page.path_of, page.words, page.counts, page.blocks.hashes, strict=True
    ):
        words[path] += size
        if count > 1 and block_hash != NO_LETTERS:
            repeated[path] += size
    for path, in_links in zip(page.path_of, page.linked, strict=True):
        if in_links:
            linked[path] += in_links
    rows = zip(words, words.values(), repeated.values(), map(round, linked.values()), strict=True)
    return dict(zip(words, map(_at_path, rows), strict=True))
