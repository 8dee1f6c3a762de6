"""A page as evidence sees it: sizes, paths, repetition, title block, main element.

All lists are by block or by element, in the order of the document; a pass over blocks or elements
costs some 10 µs, so each is made once.
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

_WITHOUT_SPACES = 12  # characters a word, above which the script has no spaces: two are a word
_at_path = partial(tuple.__new__, PathCounts)  # a third of the time of the class (measured)


@dataclass(slots=True)
class PageFeatures:
    """What the pieces of evidence share.

    Attributes:
        document: of these blocks and elements, here as columns.
        numbers: of the heuristic; names: that count, None where they do not.
        leaf: of the document; root: of its tree; site_counts: pages of the site by hash.
        words: of each block; linked: those inside links; prose: those of running text, 0 in
            headings and where most is linked; prose_blocks: numbers of the blocks that have some.
        letterless: numbers of blocks without a letter.
        first, end: first block inside each element, and the one behind the last.
        words_in, linked_in: of all blocks inside an element.
        paths: of each element; path_of: of each block.
        named: what an element's own tag and names say; `Kind` by element.
        path_counts: of each path on the page, what its blocks have.
        counts: pages of the site that have a block.
        repeated: whether those are more than a few.
        title: number of the title block.
        title_ancestors: elements that hold it, numbered from the outermost, which is 1.
        marked: what the names of an element, or of one around it, say; `Kind` by element.
        main: the main element, None where the page has no prose.
        inside: blocks that stand in it; all where there is none.
        next_articles: spans of other articles that the page goes on with.
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
        """What follows from the rest."""
        self.first, self.end = spans(self.blocks, self.elements)
        self.words_in = self.sums(self.words)
        self.linked_in = self.sums(self.linked)
        self.path_counts = _at_paths(self)

    @classmethod
    def of(
        cls, document: Document, leaf: Node, parameters: Parameters, names: Names | None
    ) -> PageFeatures:
        """A page whose marks and main element are not known yet."""
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
        """Blocks that stand in the main element: none, where the page has no main element."""
        return [False] * len(self.inside) if self.main is None else self.inside

    def kept(self, kinds: bytearray) -> int:
        """Words of the blocks that are content."""
        return sum([words for words, kind in zip(self.words, kinds, strict=True) if not kind])

    def path_by_tags(self, element: int) -> int:
        """The path of an element by tags alone."""
        tags, path = self.elements.tags, 0
        for one in reversed(self.elements.above(element)):
            path, _ = path_and_kind(path, tags[one], (), None)
        return path

    def paths_by_tags(self) -> list[int]:
        """The paths of all elements by tags alone."""
        without_tokens = self.elements._replace(tokens=((),) * len(self.paths))
        return _paths_and_kinds(without_tokens, None)[0]

    def container(self, element: int) -> int:
        """The innermost element around running text, -1 where there is none."""
        tags, parents = self.elements.tags, self.elements.parents
        while element >= 0 and tags[element] in RUNNING:
            element = parents[element]
        return element

    def last_inside(self, element: int) -> int:
        """The last of an element and those inside, which follow each other in the table."""
        return max(self.blocks.elements[self.first[element] : self.end[element]])

    def sums(self, of_blocks: Sequence[float]) -> Callable[[int], float]:
        """From an element to the sum over all blocks inside: its blocks follow each other."""
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
            said = size - linked[index]
            if said and not (blocks.headings[index] or blocks.hidden[index]):
                prose[index] = said
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
    """Blocks on more pages than a few; on newspapers a few carry an author box or a series."""
    if support < parameters.repeated_from:
        return [False] * len(counts)
    most = max(1.0, parameters.repeated_share * min(support, parameters.repeated_cap))
    repeated = [count > most for count in counts]
    for index in letterless:
        repeated[index] = False
    return repeated


def _at_paths(page: PageFeatures) -> dict[int, PathCounts]:
    """By columns, in the order of the first block at each path."""
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
