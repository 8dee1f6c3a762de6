"""The decision: each piece of evidence in turn; the first that finds boilerplate names its kind.

To change what counts as boilerplate, change a piece in `pieces.py` or add one to PIECES. The
heuristic `evidence-without-links` leaves out the piece `links`, to measure its worth.
"""

from __future__ import annotations

from urltree.document import Document
from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence import pieces, second_opinion
from urltree.heuristics.evidence.kind_of_page import kind_of_page
from urltree.heuristics.evidence.main_element import above_main, doubt_title, find_main
from urltree.heuristics.evidence.marks import marks, unmark_body
from urltree.heuristics.evidence.names import Names
from urltree.heuristics.evidence.page import Page
from urltree.heuristics.evidence.parameters import Parameters
from urltree.heuristics.page_kind import PageKind
from urltree.heuristics.protocol import Verdict
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import Node

PIECES: dict[str, pieces.Piece] = {
    "marks": pieces.marked,
    "line-numbers": pieces.line_numbers,
    "repetition": pieces.repetition,
    "repeated-paths": pieces.repeated_paths,
    "links": pieces.link_lists,
    "next-article": pieces.next_article,
    "outside": pieces.outside_main,
    "before-title": pieces.before_title,
    "duplicate-title": pieces.duplicate_title,
    "no-letters": pieces.beside_boilerplate,
}
# what other pieces stand on can be left out too
EVIDENCE = ("names", "main", "votes", "title", *PIECES)


_NAMES = Names()  # shared by all domains, and by what it has read so far


class Evidence:
    """The default heuristic.

    Args:
        numbers: that it is set by.
        names: words in names of elements.
        without: a piece of evidence to leave out, of EVIDENCE.
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
        self._pieces = [piece for name, piece in PIECES.items() if name != without]

    def judge(self, document: Document, leaf: Node, paths: PathStatistics) -> Verdict:
        """Judge each block of a document; see `Heuristic`."""
        page = self.look_at(document, leaf, paths)
        kinds = self._kinds(page, paths)
        shared = second_opinion.shared(page, paths, kinds)
        if shared is not None and shared < second_opinion.DIFFERS:
            page = self.look_at(document, leaf, paths, second_opinion.main_element(page))
            kinds = self._kinds(page, paths)
            second_opinion.keep_vouched(page, kinds)
        if shared is not None and not second_opinion.DIFFERS <= shared < second_opinion.ALIKE:
            second_opinion.drop_others(page, kinds)
        page_kind = kind_of_page(page)
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
    ) -> Page:
        """What the pieces of evidence get to see; `main` is its main element, where known."""
        page = Page.of(document, leaf, self._numbers, self._names)
        if self._without == "title":
            page.title, page.above_title = None, {}
        page.marked = marks(page)
        if self._without != "main":
            find_main(page, PathStatistics() if self._without == "votes" else paths, main=main)
            around = above_main(page)
            if any(page.marked[element] for element in around) or _is_marked_inside(page):
                page.marked = marks(page, around, page.main)
                unmark_body(page)
            doubt_title(page)
        return page

    def _kinds(self, page: Page, paths: PathStatistics) -> bytearray:
        kinds = bytearray(len(page.document.blocks))
        for piece in self._pieces:
            piece(page, paths, kinds)
        return kinds


def _is_marked_inside(page: Page) -> bool:
    if page.main is None:
        return False
    around = page.blocks.elements[page.first[page.main] : page.behind[page.main]]
    return any(map(page.marked.__getitem__, around))


def _contribution(page: Page) -> Contribution:
    """What the page adds to the site's paths; see `urltree.tree.path_statistics`."""
    if page.main is None:
        return Contribution.of(0, 0, page.at_paths.values())
    by_tags = page.path_by_tags(page.main)
    return Contribution.of(page.paths[page.main], by_tags, page.at_paths.values())
