"""The signals: each signal finds boilerplate of one sort, and sets the kind of these blocks.

A signal does not change blocks whose kind an earlier signal has set. Only `before-title` does: it
always sets the title block to content. SIGNALS, at the end of this file, has the order. To change
what counts as boilerplate, change a signal here, or write a function of the same form and add it to
SIGNALS.

Repetition alone does not decide. In the streams of the benchmark, words in the main element that
recur on up to half of a site's pages are content in over 90% of cases (release notes, series,
headings). Words that recur on more pages are content in 15% of cases. So repetition needs stronger
evidence against a block inside the main element than against a block outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.features import PageFeatures
from urltree.tree.path_statistics import PathStatistics, PathTotals

# A function of the features of a page, the path statistics of its site, and the kind of each block
# (`Kind`, one byte each). The function changes the kinds.
Signal = Callable[[PageFeatures, PathStatistics, bytearray], None]


def element_names(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find navigation, comments, footers and sidebars by the tags and names of elements.

    `marks.py` has decided which elements these are.
    """
    for index, kind in enumerate(map(page.marked.__getitem__, page.blocks.elements)):
        if kind and not kinds[index]:
            kinds[index] = kind


def line_numbers(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find line numbers beside code: 1 2 3 and so on, at least two in one block."""
    for index in page.letterless:
        if not kinds[index] and _counts_on(page.blocks.texts[index]):
            kinds[index] = Kind.LINE_NUMBERS


def repetition(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find blocks that recur on the site.

    A block in the main element must be on most of the pages at or below a node of the branch.
    """
    if True not in page.repeated:
        return
    judges, in_main, hashes = _judges(page), page.in_main, page.blocks.hashes
    for index, repeated in enumerate(page.repeated):
        if not repeated or kinds[index]:
            continue
        if not in_main[index]:
            kinds[index] = Kind.SITE_WIDE
            continue
        for kind, counts, most in judges:
            if counts[hashes[index]] > most:
                kinds[index] = kind
                break


def repeated_paths(page: PageFeatures, paths: PathStatistics, kinds: bytearray) -> None:
    """Find blocks at paths where most text of past pages was repeated, such as rotating teasers.

    For a block in the main element, nearly all past words at its path must have been repeated. But
    no such block is dropped if most past words at the paths of the main element were repeated: with
    infinite scroll, the text of each page is repeated on the next page.
    """
    numbers = page.parameters
    past = paths.known(page.path_counts, numbers.path_documents)
    outside = _repeating(past, numbers.path_repeated)
    found = [index for index in _unnamed(kinds) if page.path_of[index] in outside]
    if not found:
        return
    in_main, letterless = page.in_main, set(page.letterless)
    inside = _repeating(past, numbers.main_repeated) & outside
    if inside and _repeats_itself(page, paths):
        inside.clear()
    for index in found:
        is_dropped = not in_main[index] or page.path_of[index] in inside
        if is_dropped and index not in letterless:
            kinds[index] = Kind.REPEATED_PATH


def link_lists(page: PageFeatures, paths: PathStatistics, kinds: bytearray) -> None:
    """Find blocks at paths whose words are mostly in links.

    The words of past pages are counted. For a block outside the main element it is also enough if
    most words at its path on this page are in links.
    """
    most, in_main = page.parameters.path_linked, page.in_main
    past = paths.known(page.path_counts, page.parameters.repeated_from)
    of_site = {path for path, here in past.items() if here.linked > most * here.words}
    of_page = {path for path, here in page.path_counts.items() if here.linked > most * here.words}
    for index in _unnamed(kinds):
        path = page.path_of[index]
        is_linked = path in of_site or (path in of_page and not in_main[index])
        if is_linked and index != page.title:
            kinds[index] = Kind.LINK_LIST


def next_article(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find other articles after the page's own article (infinite scroll, see `main_element.py`)."""
    for first, behind in page.next_articles:
        for index in range(first, behind):
            kinds[index] = kinds[index] or Kind.NEXT_ARTICLE


def outside_main(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find blocks outside the main element (`main_element.py`)."""
    for index in _unnamed(kinds):
        if not page.inside[index] and index != page.title:
            kinds[index] = Kind.OUTSIDE_MAIN


def before_title(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find blocks before the title block, and set the title block to content."""
    if page.title is None:
        return
    for index in _unnamed(kinds[: page.title]):
        kinds[index] = Kind.BEFORE_TITLE
    kinds[page.title] = Kind.CONTENT


def duplicate_title(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find blocks that repeat the title block, as in a share bar or a list of related articles."""
    if page.title is None:
        return
    hashes, title = page.blocks.hashes, page.title
    if hashes.count(hashes[title]) == 1:
        return
    for index in range(title + 1, len(hashes)):
        if hashes[index] == hashes[title] and not kinds[index]:
            kinds[index] = Kind.DUPLICATE_TITLE


def beside_boilerplate(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Find blocks without letters (a date, a number, a dash) that follow boilerplate."""
    for index in page.letterless:
        if index and not kinds[index] and kinds[index - 1]:
            kinds[index] = Kind.BESIDE_BOILERPLATE


def _unnamed(kinds: bytearray) -> list[int]:
    """Return the indices of the blocks that no signal has set so far."""
    return [index for index, kind in enumerate(kinds) if not kind]


def _judges(page: PageFeatures) -> list[tuple[Kind, Counter[int], float]]:
    """Return the nodes at which repetition in the main element is judged, beginning with the root.

    Returns:
        For each node: the kind of boilerplate, the number of documents by block hash, and the
        largest such number of a content block.
    """
    numbers = page.parameters
    return [
        (
            Kind.SECTION if node.parent else Kind.SITE_WIDE,
            node.counts() if node.parent else page.site_counts,
            max(numbers.main_least, numbers.main_share * node.support),
        )
        for node in reversed(list(page.leaf.rootward()))
        if node.parent is None or node.support >= numbers.main_support
    ]


def _repeating(past: dict[int, PathTotals], share: float) -> set[int]:
    """Return the paths at which more than `share` of the past words were repeated."""
    return {path for path, here in past.items() if here.repeated > share * here.words}


def _repeats_itself(page: PageFeatures, paths: PathStatistics) -> bool:
    """Return whether most past words at the paths of this main element were repeated."""
    if page.main is None:
        return False
    words = repeated = 0.0
    for index in range(page.first[page.main], page.end[page.main]):
        past = paths.get(page.path_of[index])
        if past is not None and past.words:
            words += page.words[index]
            repeated += page.words[index] * past.repeated / past.words
    return repeated > page.parameters.main_share * words


def _counts_on(text: str) -> bool:
    """Return whether a text is a sequence of at least two consecutive numbers."""
    numbers = text.split()
    if len(numbers) < 2 or not numbers[0].isdecimal() or len(numbers[0]) > 6:
        return False
    first = int(numbers[0])
    return numbers == [str(first + place) for place in range(len(numbers))]


# The signals by name, in the order in which they are applied. The first signal that finds a block
# sets the block's kind. The names are public: `evidence-without-links` is a name of a heuristic.
SIGNALS: dict[str, Signal] = {
    "marks": element_names,
    "line-numbers": line_numbers,
    "repetition": repetition,
    "repeated-paths": repeated_paths,
    "links": link_lists,
    "next-article": next_article,
    "outside": outside_main,
    "before-title": before_title,
    "duplicate-title": duplicate_title,
    "no-letters": beside_boilerplate,
}
