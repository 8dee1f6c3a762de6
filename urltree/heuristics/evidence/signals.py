"""The pieces of evidence: each a pass over the blocks that says the kind of boilerplate it finds.

A piece leaves alone what one before it has named. Inside the main element a block needs more to be
dropped than outside: of the words there that recur on up to half of a site's pages, over 90% are
content on the streams (release notes, series, headings); above, 15% are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.features import PageFeatures
from urltree.tree.path_statistics import PathStatistics, PathTotals

Signal = Callable[[PageFeatures, PathStatistics, bytearray], None]


def element_names(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """Tags and names: navigation, comments, footers, sidebars (`marks.py`)."""
    for index, kind in enumerate(map(page.marked.__getitem__, page.blocks.elements)):
        if kind and not kinds[index]:
            kinds[index] = kind


def line_numbers(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """1 2 3 and on, two at least: the gutter beside a listing."""
    for index in page.letterless:
        if not kinds[index] and _counts_on(page.blocks.texts[index]):
            kinds[index] = Kind.LINE_NUMBERS


def repetition(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """What recurs on the site; in the main element, on most pages of a node of the branch."""
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
    """Where a site has repeated itself so far it does so again: teasers that rotate.

    In the main element nearly all must have been repeated; nothing is dropped there where most of
    the main element's own past was: the next page shows this one's text (infinite scroll).
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
    """Where text is mostly links, by the site; outside the main element by this page too."""
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
    """Another article that the page goes on with (`urltree.heuristics.evidence.next_articles`)."""
    for first, behind in page.next_articles:
        for index in range(first, behind):
            kinds[index] = kinds[index] or Kind.NEXT_ARTICLE


def outside_main(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """What stands outside the main element (`urltree.heuristics.evidence.main_element`)."""
    for index in _unnamed(kinds):
        if not page.inside[index] and index != page.title:
            kinds[index] = Kind.OUTSIDE_MAIN


def before_title(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """What stands before the title block; that itself is content."""
    if page.title is None:
        return
    for index in _unnamed(kinds[: page.title]):
        kinds[index] = Kind.BEFORE_TITLE
    kinds[page.title] = Kind.CONTENT


def duplicate_title(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """The title block again: in a share bar, in a list of related articles."""
    if page.title is None:
        return
    hashes, title = page.blocks.hashes, page.title
    if hashes.count(hashes[title]) == 1:
        return
    for index in range(title + 1, len(hashes)):
        if hashes[index] == hashes[title] and not kinds[index]:
            kinds[index] = Kind.DUPLICATE_TITLE


def beside_boilerplate(page: PageFeatures, _: PathStatistics, kinds: bytearray) -> None:
    """A date, a number, a dash: without letters it is what stands before it."""
    for index in page.letterless:
        if index and not kinds[index] and kinds[index - 1]:
            kinds[index] = Kind.BESIDE_BOILERPLATE


def _unnamed(kinds: bytearray) -> list[int]:
    """Numbers of the blocks that no piece has named so far."""
    return [index for index, kind in enumerate(kinds) if not kind]


def _judges(page: PageFeatures) -> list[tuple[Kind, Counter[int], float]]:
    """What each node that judges in the main element says, from the root.

    Returns:
        The kind, the counts, and the largest of them that is content.
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
    return {path for path, here in past.items() if here.repeated > share * here.words}


def _repeats_itself(page: PageFeatures, paths: PathStatistics) -> bool:
    """Whether most of what past pages had at the paths of this main element was repeated."""
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
    numbers = text.split()
    if len(numbers) < 2 or not numbers[0].isdecimal() or len(numbers[0]) > 6:
        return False
    first = int(numbers[0])
    return numbers == [str(first + place) for place in range(len(numbers))]


# In this order: the first signal that finds boilerplate names its kind.
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
