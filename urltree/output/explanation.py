"""The explanation of a verdict: the verdict of a page, and the counts and elements it rests on.

    rows of the site ──▶ Site ──▶ judge the page as if it arrived now ──▶ Explanation

The heuristic itself decides; this module only records what it used.
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
    """One node of the page's branch.

    Attributes:
        name: name as domain/segment/…
        support: number of documents at or below the node, including the page.
        counts: for each block of the page, the number of those documents that contain it.
    """

    name: str
    support: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Main:
    """The main element of a page, and the votes for it.

    Attributes:
        element: index into the document's elements.
        votes: number of pages of the site whose main element has the same path. If no page has the
            path with these names, it is the number of pages with the same path of tags.
        voters: number of pages of the site that have a main element.
        alone: index of the element that the page would choose without votes; None without prose.
    """

    element: int
    votes: int
    voters: int
    alone: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict of a page with the evidence for it.

    Attributes:
        document: the page.
        heuristic: name of the heuristic.
        verdict: its verdict.
        nodes: nodes of the branch, beginning with the root.
        words: number of words of each block.
        linked: number of words inside links of each block.
        title: index of the title block; None if there is none.
        main: main element; None if there is none, or the heuristic does not use one.
        inside: one flag per block, True inside the main element.
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
        """Return the kind of boilerplate of a block; None for a heuristic without kinds."""
        kinds = self.verdict.kinds
        return None if kinds is None else Kind(kinds[position])


def explain(
    heuristic: Heuristic, document: Document, rows: Iterable[tuple[bytes, bytes]] = ()
) -> Explanation:
    """Judge a page as if it arrived now; nothing is stored.

    Args:
        heuristic: heuristic that judges.
        document: the page. Its own stored row is not counted a second time.
        rows: pairs of document id and encoded row of its site.

    Raises:
        RowError: this release does not know the version of a row.
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
