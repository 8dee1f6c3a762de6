"""The explanation of a page's verdict: the counts and elements on which the verdict is based.

    rows of the site ──▶ Site ──▶ judge the page as if it arrived now ──▶ Explanation

The heuristic decides as usual; this module only records the data that the heuristic used.
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
from urltree.heuristics.protocol import Heuristic, Verdict
from urltree.site.site import Site
from urltree.tree.path_statistics import PathStatistics
from urltree.tree.url_tree import Node


class NodeCounts(NamedTuple):
    """One node of the page's branch in the URL tree.

    Attributes:
        name: name in the form domain/segment/….
        support: number of documents at or below the node, including the page.
        counts: for each block of the page, the number of these documents that contain the block.
    """

    name: str
    support: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Main:
    """The main element of a page, and its votes: pages of the site with the same main element.

    Attributes:
        element: index of the main element in the document's elements.
        votes: number of pages of the site whose main element has the same path. If there are none,
            it is the number of pages whose main element has the same path of tags.
        voters: number of pages of the site that have a main element.
        alone: index of the main element that would be chosen from this page alone; None if the page
            has no running text.
    """

    element: int
    votes: int
    voters: int
    alone: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict of a page, and the data on which it is based.

    Attributes:
        document: document of the page.
        heuristic: name of the heuristic.
        verdict: verdict of the heuristic.
        nodes: nodes of the page's branch, beginning with the root.
        words: number of words of each block.
        linked: number of words inside links, for each block.
        title: index of the title block; None if there is none.
        main: main element; None if there is none, or the heuristic does not use one.
        inside: one flag for each block, True if the block is inside the main element.
    """

    document: Document
    heuristic: str
    verdict: Verdict
    nodes: tuple[NodeCounts, ...]
    words: tuple[int, ...]
    linked: tuple[float, ...]
    title: int | None
    main: Main | None
    inside: tuple[bool, ...]

    def kind(self, position: int) -> Kind | None:
        """Return the kind of boilerplate of a block; None if the heuristic has no kinds."""
        kinds = self.verdict.kinds
        return None if kinds is None else Kind(kinds[position])


def explain(
    heuristic: Heuristic, document: Document, rows: Iterable[tuple[bytes, bytes]] = ()
) -> Explanation:
    """Judge a page as if it arrived now; nothing is stored.

    Args:
        heuristic: heuristic that judges the page.
        document: document of the page. If `rows` has a row of this document, the row is ignored.
        rows: rows of the page's site as pairs of document id and encoded row.

    Raises:
        RowError: this release cannot read a row.
    """
    site = Site(heuristic, None)
    site.rebuild([row for row in rows if row[0] != document.key_bytes])
    leaf = site.tree.insert(document.key_bytes, document.branch, document.distinct_hashes())
    verdict = heuristic.judge(document, leaf, site.paths)
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
        verdict,
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
