"""What a heuristic is, and what it says of a document."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from urltree.document import Document
from urltree.heuristics.page_kind import PageKind
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import Node


class Judgement(NamedTuple):
    """What a heuristic says of a document.

    Attributes:
        depth: of the node that judged, 0 for the root.
        support: of that node, when it judged.
        boilerplate: one verdict for each block.
        counts: c(hash) of each block at that node.
        kinds: kind of boilerplate of each block, one byte each (`boilerplate.py`); None if unknown.
        paths: what it contributes to the site's path statistics; None where nothing.
        page_kind: None of a heuristic that knows none.
    """

    depth: int
    support: int
    boilerplate: tuple[bool, ...]
    counts: tuple[int, ...]
    kinds: bytes | None = None
    paths: Contribution | None = None
    page_kind: PageKind | None = None


class Heuristic(Protocol):
    """What every heuristic is: named, versioned, and a pure function of what is known."""

    @property
    def name(self) -> str:
        """As written in settings and in clean-text."""

    @property
    def version(self) -> int:
        """Rises when the same input may get another verdict."""

    def judge(self, document: Document, leaf: Node, paths: PathStatistics) -> Judgement:
        """Judge each block of a document.

        Args:
            document: it was inserted at `leaf`.
            leaf: its node in the tree of its domain.
            paths: of the domain, the document's own contribution not among them at first.
        """
