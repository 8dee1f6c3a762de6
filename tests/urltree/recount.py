"""A simple model of a site: a dict of documents, which are counted anew for each verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from urltree.document import Document
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.tree.window import Eviction

Branch = tuple[str, ...]


class Said(NamedTuple):
    """The verdict of the model on a document."""

    depth: int
    support: int
    boilerplate: tuple[bool, ...]


class Known(NamedTuple):
    """A document that the model has stored, with its time and verdict."""

    time: int
    document: Document
    said: Said


class Recount:
    r"""A model that judges a page at the first node with n >= n_min, else at the root.

    A page is inserted before it is judged. A block is boilerplate if c > c_max at that node.

    Attributes:
        known: documents in the window, keyed by id.
        foreign: documents of another tokenizer, keyed by id; they are not counted.
    """

    def __init__(self, eviction: Eviction | None, n_min: int, c_max: int = 1) -> None:
        self.eviction, self.n_min, self.c_max = eviction, n_min, c_max
        self.known: dict[str, Known] = {}
        self.foreign: dict[str, Known] = {}

    def learn(self, page: Document) -> Said:
        """Judge a page, store it and evict old documents; return the verdict."""
        first = self.known.pop(page.id, None) or self.foreign.pop(page.id, None)
        is_replay = first is not None and first.document.origin == page.origin
        others = [each.time for each in self.known.values()]
        time = page.time
        if time is None:
            time = first.time if first and is_replay else max(others, default=0)
        if page.tokenizer != TOKENIZER_VERSION:
            said = Said(0, 1, (False,) * len(page.blocks))
            if first and is_replay and _same_blocks(first.document, page):
                said = first.said
            self.foreign[page.id] = Known(time, page, said)
            return said
        said = self._judge(page)
        if first and is_replay and _same_blocks(first.document, page):
            time, said = first.time, first.said
        self.known = self._window({**self.known, page.id: Known(time, page, said)})
        return said

    def nodes(self) -> Mapping[Branch, tuple[int, dict[int, int]]]:
        """Return a dict from the branch of each node of the tree to its support and counts."""
        return _count(each.document for each in self.known.values())

    def _judge(self, page: Document) -> Said:
        nodes = _count([*(each.document for each in self.known.values()), page])
        depth = len(page.branch)
        while depth and nodes[page.branch[:depth]][0] < self.n_min:
            depth -= 1
        support, counts = nodes[page.branch[:depth]]
        boilerplate = tuple(counts[block.hash] > self.c_max for block in page.blocks)
        return Said(depth, support, boilerplate)

    def _window(self, known: dict[str, Known]) -> dict[str, Known]:
        """Return the documents that remain when the limits are applied to each of them."""
        if self.eviction is None or len(known) <= self.eviction.keep:
            return known
        newest_first = sorted(known, key=lambda id_: (known[id_].time, id_), reverse=True)
        oldest = known[newest_first[4]].time - self.eviction.max_age
        return {
            id_: known[id_]
            for rank, id_ in enumerate(newest_first)
            if rank < self.eviction.keep
            or (rank < self.eviction.max_documents and known[id_].time >= oldest)
        }


def _same_blocks(one: Document, other: Document) -> bool:
    return (one.tokenizer, [block.hash for block in one.blocks]) == (
        other.tokenizer,
        [block.hash for block in other.blocks],
    )


def _count(documents: Iterable[Document]) -> dict[Branch, tuple[int, dict[int, int]]]:
    supports: Counter[Branch] = Counter()
    counts: dict[Branch, Counter[int]] = {(): Counter()}
    for document in documents:
        hashes = {block.hash for block in document.blocks}
        for depth in range(len(document.branch) + 1):
            node = document.branch[:depth]
            supports[node] += 1
            counts.setdefault(node, Counter()).update(hashes)
    return {node: (supports[node], dict(counts[node])) for node in counts}
