"""Why a heuristic says what it says of a page: its verdicts, and all that they stand on.

    rows of the site ──▶ LearnedDomain ──▶ the page, as if it came now ──▶ Explanation

The decision is made by the heuristic itself; here is only looked at what it saw (issue 6).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from urltree.document import Document
from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence import Evidence
from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.evidence.parameters import Parameters
from urltree.heuristics.protocol import Heuristic, Judgement
from urltree.site.site import LearnedDomain
from urltree.tree.path_statistics import PathStatistics
from urltree.tree.url_tree import Node


class NodeCounts(NamedTuple):
    """A node of the page's branch.

    Attributes:
        name: as domain/segment/…
        support: documents at or below it, the page among them.
        counts: of each block of the page, the documents that contain it.
    """

    name: str
    support: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Main:
    """The main element, and how it was found.

    Attributes:
        element: index into the document's elements.
        votes: pages of the site that have their main element at this path, or where its names are
            new, at its tags; voters: that have one.
        alone: the element that this page would choose for itself, None where it has no prose.
    """

    element: int
    votes: int
    voters: int
    alone: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was said of a page and why.

    Attributes:
        heuristic: its name.
        nodes: of the branch, from the root.
        words: of each block; linked: those inside links.
        title: number of the title block, None where there is none.
        main: None where there is none, or where the heuristic looks for none.
        inside: blocks that stand in it.
    """

    document: Document
    heuristic: str
    judgement: Judgement
    nodes: tuple[NodeCounts, ...]
    words: tuple[int, ...]
    linked: tuple[float, ...]
    title: int | None
    main: Main | None
    inside: tuple[bool, ...]

    def kind(self, position: int) -> Kind | None:
        """Why a block is boilerplate; None where the heuristic knows no kinds."""
        kinds = self.judgement.kinds
        return None if kinds is None else Kind(kinds[position])


def explain(
    heuristic: Heuristic, document: Document, rows: Iterable[tuple[bytes, bytes]] = ()
) -> Explanation:
    """Judge a page as if it came now, in memory alone.

    Args:
        heuristic: that judges.
        document: the page. What was learned of it before is not counted a second time.
        rows: (id, encoded row) of its domain.

    Raises:
        RowError: a row of a version that this release does not know.
    """
    site = LearnedDomain(heuristic, None)
    site.rebuild([row for row in rows if row[0] != document.key_bytes])
    leaf = site.tree.insert(document.key_bytes, document.branch, document.distinct_hashes())
    judgement = heuristic.judge(document, leaf, site.paths)
    if isinstance(heuristic, Evidence):
        page = heuristic.look_at(document, leaf, site.paths)
        alone = heuristic.look_at(document, leaf, PathStatistics()).main
        title, main = page.title, _main(page, site.paths, alone)
    else:
        page = PageFeatures.of(document, leaf, Parameters(), None)
        title = main = None
    return Explanation(
        document,
        heuristic.name,
        judgement,
        _nodes(document, leaf),
        tuple(page.words),
        tuple(page.linked),
        title,
        main,
        tuple(page.in_main),
    )


def _main(page: PageFeatures, paths: PathStatistics, alone: int | None) -> Main | None:
    if page.main is None:
        return None
    by_tags = page.path_by_tags(page.main)
    votes = paths.mains[page.paths[page.main]] or paths.mains_by_tags[by_tags]
    return Main(page.main, votes, sum(paths.mains.values()), alone)


def _nodes(document: Document, leaf: Node) -> tuple[NodeCounts, ...]:
    found = []
    for node in reversed(list(leaf.rootward())):
        name = "/".join((document.domain, *document.branch[: node.depth]))
        counts = node.counts()
        found.append(
            NodeCounts(name, node.support, tuple([counts[block.hash] for block in document.blocks]))
        )
    return tuple(found)
