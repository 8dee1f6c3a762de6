"""The four heuristics of the paper: they count in how many documents a block occurs.

Sluban & Grčar, CIKM 2013, sections 4 and 5.4. Each heuristic selects one node on the branch of the
document. A block is boilerplate if more than `c_max` documents at or below that node contain it.

| heuristic | node that decides | c_max |
|---|---|---|
| strict | first node from the leaf up with support >= 5 | 1 |
| strict-support-n | first node from the leaf up with support > n | 1 |
| strict-at-domain | root | 1 |
| relaxed-at-domain-n | root | 1 up to support n, then 2 |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from urltree.document import Document
from urltree.heuristics.protocol import Verdict
from urltree.tree.path_statistics import PathStatistics
from urltree.tree.url_tree import Node

N_MIN = 5  # paper, section 5.4: least support of a node that decides
C_MAX = 1  # paper, section 5.4: a block in more documents than this is boilerplate


class Repetition(NamedTuple):
    """A heuristic that compares the count of each block with `c_max` at one node.

    Attributes:
        name: name of the heuristic.
        select: function that returns the node that decides for a leaf.
        c_max: function that returns, for the support of that node, the largest count of a content
            block.
        version: version of the heuristic.
    """

    name: str
    select: Callable[[Node], Node]
    c_max: Callable[[int], int]
    version: int = 1

    def judge(self, document: Document, leaf: Node, _: PathStatistics) -> Verdict:
        """Judge each block of a document; see `Heuristic.judge`."""
        node = self.select(leaf)
        counts, c_max = node.counts(), self.c_max(node.support)
        found = tuple([counts[block.hash] for block in document.blocks])
        boilerplate = tuple([c > c_max for c in found])
        return Verdict(self.name, self.version, node.depth, node.support, boilerplate, found)


def strict(name: str, n_min: int = N_MIN) -> Repetition:
    """Return the heuristic that decides at the first node from the leaf up with support `n_min`."""
    return Repetition(name, first_with(n_min), lambda _: C_MAX)


def relaxed_at_domain(name: str, n: int) -> Repetition:
    """Return the heuristic that decides at the root, with a larger `c_max` above support `n`."""
    return Repetition(name, _root, lambda support: C_MAX + (support > n))


def strict_at_domain(name: str) -> Repetition:
    """Return the heuristic that decides at the root, always with the same `c_max`."""
    return Repetition(name, _root, lambda _: C_MAX)


def first_with(n_min: int) -> Callable[[Node], Node]:
    """Return a function that selects the first node from the leaf up with support >= `n_min`.

    If no node has that support, the function selects the root.
    """

    def select(leaf: Node) -> Node:
        node = leaf
        while node.support < n_min and node.parent is not None:
            node = node.parent
        return node

    return select


_root = first_with(2**63)  # no node has that support, so the root is selected
