"""The heuristic protocol, and the verdict that a heuristic returns for a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from urltree.document import Document
from urltree.heuristics.page_kind import PageKind
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import Node


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about each text block of a document.

    A row stores the verdict, so that a replay of the document gives the same text.

    Attributes:
        heuristic: name of the heuristic that decided.
        version: version of that heuristic.
        depth: depth of the node that decided; the root has depth 0.
        support: support of that node when it decided.
        boilerplate: one flag per block, True for boilerplate.
        counts: c(hash) of each block at that node; None where counts are not kept.
        kinds: kind of boilerplate of each block, one byte each (`boilerplate.py`); None for a
            heuristic that does not distinguish kinds.
        page_kind: article or listing; None for a heuristic that does not distinguish them.
        revision: 0 for the first verdict, 1 for the second (`site/first_pages.py`).
        contribution: contribution of the document to the path statistics of its site, if the
            heuristic learns any. The row stores it beside the verdict; after reading it is None.
    """

    heuristic: str
    version: int
    depth: int
    support: int
    boilerplate: tuple[bool, ...]
    counts: tuple[int, ...] | None
    kinds: bytes | None = None
    page_kind: PageKind | None = None
    revision: int = 0
    contribution: Contribution | None = field(default=None, compare=False, repr=False)


class Heuristic(Protocol):
    """A named and versioned pure function that judges documents."""

    @property
    def name(self) -> str:
        """Name in settings and in clean-text records."""

    @property
    def version(self) -> int:
        """Version; it increases when the same input may get another verdict."""

    def judge(self, document: Document, leaf: Node, paths: PathStatistics) -> Verdict:
        """Judge each block of a document.

        Args:
            document: the document, already inserted into the tree of its site.
            leaf: the leaf of the tree at which it was inserted.
            paths: path statistics of the site, without this document when it is judged first.

        Returns:
            A verdict with counts, and with the contribution of the document if there is one.
        """
