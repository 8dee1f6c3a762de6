"""The heuristic protocol, and the verdict that a heuristic returns for a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from urltree.document import Document
from urltree.heuristics.page_kind import PageKind
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import Node

NOT_JUDGED = "none"  # heuristic of a verdict that no heuristic has made; see `keep_all`


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about each text block of a document.

    A row stores the verdict, so that a replay of the document gives the same text.

    Attributes:
        heuristic: name of the heuristic that decided; `NOT_JUDGED` if none has.
        version: version of that heuristic.
        depth: depth of the node that decided; the root has depth 0.
        support: support of that node when it decided.
        boilerplate: one flag per block, True for boilerplate.
        counts: number of documents at or below that node that contain each block; None if counts
            are not stored.
        kinds: kind of boilerplate of each block, one byte each (`boilerplate.py`); None for a
            heuristic that does not distinguish kinds.
        page_kind: article or listing; None for a heuristic that does not distinguish them.
        revision: 0 for the first verdict, 1 for the second (`site/first_pages.py`).
        contribution: contribution of the document to the path statistics of its site; None if the
            heuristic learns none. The row stores it apart from the verdict, so it is also None in
            a verdict that was read from a row.
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


def keep_all(document: Document) -> Verdict:
    """Return the verdict that keeps every block, for a document whose text comes from a feed.

    The verdict depends on the document alone, so its support is 0.
    """
    return Verdict(NOT_JUDGED, 1, 0, 0, (False,) * len(document.blocks), None)


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
            leaf: the leaf of the tree at which the document was inserted.
            paths: path statistics of the site. They do not include the document when it is judged
                for the first time.

        Returns:
            A verdict with counts, and with a contribution if the heuristic learns path statistics.
        """
