"""The heuristic `evidence`: it computes the features of a page, and applies the signals in order.

The heuristic `evidence-without-links` leaves out the signal `links`, to measure what this signal
contributes. Every name in EVIDENCE can be left out in this way.
"""

from __future__ import annotations

from urltree.document import Document
from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence import second_opinion
from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.evidence.main_element import above_main, doubt_title, find_main
from urltree.heuristics.evidence.marks import mark_elements, unmark_main_text
from urltree.heuristics.evidence.names import Names
from urltree.heuristics.evidence.page_classifier import classify_page
from urltree.heuristics.evidence.parameters import Parameters
from urltree.heuristics.evidence.signals import SIGNALS
from urltree.heuristics.page_kind import PageKind
from urltree.heuristics.protocol import Verdict
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import Node

# Names of what `evidence-without-NAME` can leave out: the features of a page that signals use
# (names, main, votes, title), and the signals.
EVIDENCE = ("names", "main", "votes", "title", *SIGNALS)


_NAMES = Names()  # shared by all sites, because it caches the meaning of names


class Evidence:
    """The default heuristic.

    Args:
        numbers: thresholds and weights; None for the defaults.
        names: words that have a meaning in class names; None for the defaults.
        without: the name in EVIDENCE of a signal or feature to leave out; None to use them all.
    """

    version = 1

    def __init__(
        self,
        numbers: Parameters | None = None,
        names: Names | None = None,
        without: str | None = None,
    ) -> None:
        self.name = f"evidence-without-{without}" if without else "evidence"
        self._numbers = numbers or Parameters()
        self._names = None if without == "names" else names or _NAMES
        self._without = without
        self._signals = [signal for name, signal in SIGNALS.items() if name != without]

    def judge(self, document: Document, leaf: Node, paths: PathStatistics) -> Verdict:
        """Judge each block of a document; see `Heuristic`."""
        page = self.look_at(document, leaf, paths)
        kinds = self._kinds(page, paths)
        agreement = second_opinion.agreement_with_kept(page, paths, kinds)
        if agreement is not None and agreement < second_opinion.DIFFERS:
            page = self.look_at(document, leaf, paths, second_opinion.best_agreeing_element(page))
            kinds = self._kinds(page, paths)
            second_opinion.keep_vouched(page, kinds)
        if agreement is not None and not (
            second_opinion.DIFFERS <= agreement < second_opinion.ALIKE
        ):
            second_opinion.drop_others(page, kinds)
        page_kind = classify_page(page)
        can_be_wrong = page.title is None or page_kind is PageKind.LISTING
        if can_be_wrong and page.kept(kinds) < self._numbers.least_words:
            kinds = bytearray(Kind.SITE_WIDE if found else 0 for found in page.repeated)
        return Verdict(
            self.name,
            self.version,
            0,
            page.root.support,
            tuple(map(bool, kinds)),
            tuple(page.counts),
            bytes(kinds),
            page_kind,
            contribution=_contribution(page),
        )

    def look_at(
        self, document: Document, leaf: Node, paths: PathStatistics, main: int | None = None
    ) -> PageFeatures:
        """Compute the features of a page, with its marks and its main element.

        Args:
            document: the page.
            leaf: the document's node in the URL tree of its site.
            paths: path statistics of the site.
            main: index of the main element if it is known; None to choose the main element.
        """
        page = PageFeatures.of(document, leaf, self._numbers, self._names)
        if self._without == "title":
            page.title, page.title_ancestors = None, {}
        page.marked = mark_elements(page)
        if self._without != "main":
            find_main(page, PathStatistics() if self._without == "votes" else paths, main=main)
            around = above_main(page)
            if any(page.marked[element] for element in around) or _is_marked_inside(page):
                page.marked = mark_elements(page, around, page.main)
                unmark_main_text(page)
            doubt_title(page)
        return page

    def _kinds(self, page: PageFeatures, paths: PathStatistics) -> bytearray:
        kinds = bytearray(len(page.document.blocks))
        for signal in self._signals:
            signal(page, paths, kinds)
        return kinds


def _is_marked_inside(page: PageFeatures) -> bool:
    if page.main is None:
        return False
    around = page.blocks.elements[page.first[page.main] : page.end[page.main]]
    return any(map(page.marked.__getitem__, around))


def _contribution(page: PageFeatures) -> Contribution:
    """Return what the page adds to the site's path statistics."""
    if page.main is None:
        return Contribution.of(0, 0, page.path_counts.values())
    by_tags = page.path_by_tags(page.main)
    return Contribution.of(page.paths[page.main], by_tags, page.path_counts.values())
