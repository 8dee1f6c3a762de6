"""Who decides what is boilerplate: heuristics by name (paper, sections 4 and 5.4).

A heuristic gets a document and its leaf, after the document was inserted, and says for each block
whether it is boilerplate. The paper's four count; `evidence` is ours, the default (issue 6). To
change what counts as boilerplate, change its evidence (`heuristics/evidence/`), or write a
heuristic and add a line to `_FAMILIES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from urltree.document import Document
from urltree.heuristics.evidence import EVIDENCE, Evidence
from urltree.heuristics.protocol import Heuristic, Judgement
from urltree.tree.path_statistics import PathStatistics
from urltree.tree.url_tree import Node

N_MIN = 5  # paper, section 5.4: support from which a node may judge
C_MAX = 1  # paper, section 5.4: documents in which a block may occur and still be content


class Repetition(NamedTuple):
    """The paper's heuristics: select one node on the branch, compare c with c_max there.

    Attributes:
        select: from the leaf to the node that judges.
        c_max: from that node's support to the largest count of content.
    """

    name: str
    select: Callable[[Node], Node]
    c_max: Callable[[int], int]
    version: int = 1

    def judge(self, document: Document, leaf: Node, _: PathStatistics) -> Judgement:
        """A block is boilerplate iff c > c_max at the selected node."""
        node = self.select(leaf)
        counts, c_max = node.counts(), self.c_max(node.support)
        found = tuple([counts[block.hash] for block in document.blocks])
        return Judgement(node.depth, node.support, tuple([c > c_max for c in found]), found)


def first_with(n_min: int) -> Callable[[Node], Node]:
    """Select the first node from the leaf rootward with support >= n_min, else the root."""

    def select(leaf: Node) -> Node:
        node = leaf
        while node.support < n_min and node.parent is not None:
            node = node.parent
        return node

    return select


_at_domain = first_with(2**63)  # no support is that large: always the root

_FAMILIES: dict[str, Callable[[int], Heuristic]] = {
    "evidence": lambda _: Evidence(),
    "strict": lambda _: Repetition("strict", first_with(N_MIN), lambda _: C_MAX),
    "strict-support": lambda n: Repetition(
        f"strict-support-{n}", first_with(n + 1), lambda _: C_MAX
    ),
    "strict-at-domain": lambda _: Repetition("strict-at-domain", _at_domain, lambda _: C_MAX),
    "relaxed-at-domain": lambda n: Repetition(
        f"relaxed-at-domain-{n}", _at_domain, lambda support: C_MAX + (support > n)
    ),
}
_DEFAULT_N = {"strict-support": 100, "relaxed-at-domain": 500}  # tuned in the paper, section 5.5

NAMES = tuple(name + (f"-{_DEFAULT_N[name]}" if name in _DEFAULT_N else "") for name in _FAMILIES)
DEFAULT = "evidence"

_WITHOUT = "evidence-without-"


def heuristic(name: str) -> Heuristic:
    """The heuristic of that name, such as `evidence` or `strict-support-100`.

    `evidence-without-names` and the like leave out one piece of evidence.

    Raises:
        ValueError: there is none; the message lists those that are.
    """
    if name.startswith(_WITHOUT) and name.removeprefix(_WITHOUT) in EVIDENCE:
        return Evidence(without=name.removeprefix(_WITHOUT))
    match = re.fullmatch(r"([a-z-]+?)(?:-([0-9]+))?", name)
    family = match.group(1) if match else ""
    number = match.group(2) if match else None
    if family not in _FAMILIES or (number is None) == (family in _DEFAULT_N):
        raise ValueError(f"no heuristic {name!r}; there are {', '.join(NAMES)} (any number)")
    return _FAMILIES[family](int(number or 0))
