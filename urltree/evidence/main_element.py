"""The main element: the one whose own paragraphs say most, by the page and by the site.

    body
    ├── div.page              A third of what the paragraphs of a grandchild say counts here,
    │   ├── div.entry  ◀──    half of what those of a child say, and all of one's own.
    │   │   ├── p  40 words
    │   │   └── p  60 words
    │   └── div.latest        Teasers: each stands in an element of its own.

Scores are in words. They climb from a paragraph as in Arc90's Readability (2009), and count nothing
that recurs on the site. A site's pages have their main element at the same path: once that is
known, a page with more comments than text no longer decides for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from urltree.evidence.next_articles import next_articles
from urltree.evidence.page import Page, above, container
from urltree.path_statistics import PathStatistics

_WEIGHTS = (1.0, 0.5, 1 / 6, 1 / 9, 1 / 12, 1 / 15)
_MOST_WORDS = 150.0  # of one block that count
_MARKED = 0.25  # what prose counts where names speak against it
_STRONG = 0.5
_BEFORE_TITLE = 0.1
_LEAST_SCORE = 0.01
_FEW = 40  # words of prose, by which an element that names speak against is not the main one
_LATE = 1 / 3  # of the main element's prose
_STANDFIRST = 10  # words; a line of date and author has fewer
_LATER, _LATER_LEAST = 0.6, 0.25  # of a score, and of it what an earlier one must have


def find_main(page: Page, paths: PathStatistics, main: int | None = None) -> None:
    """Find the main element, and the blocks that stand in it or in what belongs to it.

    Args:
        page: whose names have marked its elements.
        paths: of the site, which votes.
        main: the main element, where it is known.
    """
    if not page.document.elements:
        return
    prose = _new_prose(page)
    scores = _scores(page, prose)
    _weigh(page, scores)
    _prefer_first(page, scores)
    page.next_articles = next_articles(page)
    for first, behind in page.next_articles:
        for index, span in enumerate(page.spans):
            if first <= span[0] and span[1] <= behind:
                scores[index] = 0.0
    if main is None:
        main = _by_votes(page, scores, paths)
    if main is None:
        main = max(range(len(scores)), key=scores.__getitem__)
        is_doubtful = page.marked[main] and page.sums(prose)(main) < _FEW
        if not scores[main] or is_doubtful:
            return
    page.main = main
    scores[main] = max(scores[main], _LEAST_SCORE)
    _mark_inside(page, scores, prose)


def _new_prose(page: Page) -> list[float]:
    """Words of running text in each block that does not recur on the site.

    This page's own text may stand on the one before and the one after it (infinite scroll).
    """
    numbers = page.numbers
    few = max(2.0, min(numbers.main_least, numbers.main_share * page.root.support))
    return [
        0.0 if repeated and count > few else words
        for words, repeated, count in zip(page.prose, page.repeated, page.counts, strict=True)
    ]


def _scores(page: Page, prose: Sequence[float]) -> list[float]:
    elements, marked = page.document.elements, page.marked
    scores = [0.0] * len(elements)
    for block, words in zip(page.document.blocks, prose, strict=True):
        if not words:
            continue
        said = min(words * _MARKED if marked[block.element] else words, _MOST_WORDS)
        element = container(elements, block.element)
        for weight in _WEIGHTS:
            if element < 0:
                break
            scores[element] += said * weight
            element = elements[element].parent
    return scores


def _weigh(page: Page, scores: list[float]) -> None:
    """By links, by names, by where the title block stands."""
    numbers, elements = page.numbers, page.document.elements
    for index, score in enumerate(scores):
        if not score:
            continue
        weight = 1 - page.linked_in(index) / page.words_in(index)
        if page.names is not None and elements[index].tokens:
            said = page.names.of(elements[index].tokens)
            if said.is_content:
                weight *= 1 + numbers.named_content
            elif said.is_strong:
                weight *= _STRONG
        if elements[index].tag in ("article", "main"):
            weight *= 1 + numbers.named_content
        if page.title is not None:
            weight *= 1 + numbers.title_nearness * _shared_with_title(page, index) / len(
                page.above_title
            )
            if page.spans[index][1] <= page.title:
                weight *= _BEFORE_TITLE
        scores[index] = score * weight


def _shared_with_title(page: Page, element: int) -> int:
    """Of an element and all around it, how many hold the title block."""
    while element >= 0 and element not in page.above_title:
        element = page.document.elements[element].parent
    return page.above_title.get(element, 0)


def _prefer_first(page: Page, scores: list[float]) -> None:
    """Of elements beside each other after the title, comments and other articles come later."""
    if page.title is None:
        return
    best: dict[int, float] = {}
    for index, score in enumerate(scores):
        if score and page.spans[index][1] > page.title + 1 and index not in page.above_title:
            parent = page.document.elements[index].parent
            if best.get(parent, 0.0) >= _LATER_LEAST * score:
                scores[index] = score * _LATER
            else:
                best[parent] = max(best.get(parent, 0.0), score)


def _by_votes(page: Page, scores: Sequence[float], paths: PathStatistics) -> int | None:
    """The element at the site's usual path, by names or, where those are new, by tags alone."""
    found = _elected(page, scores, page.paths, paths.mains)
    if found is None:
        found = _without_prose(page, paths.mains)
    if found is None and paths.mains_by_tags:
        by_tags = list(map(page.path_by_tags, range(len(page.paths))))
        found = _elected(page, scores, by_tags, paths.mains_by_tags)
    return found


def _elected(
    page: Page, scores: Sequence[float], paths: list[int], votes: Counter[int]
) -> int | None:
    """The element at the path that has most votes of those that are on the page."""
    known = [index for index, path in enumerate(paths) if scores[index] and path in votes]
    if not known:
        return None
    present = sum(votes[path] for path in set(paths) & votes.keys())
    best = max(known, key=lambda index: (votes[paths[index]], scores[index]))
    is_usual = votes[paths[best]] >= page.numbers.vote_share * present
    return best if present >= page.numbers.votes and is_usual else None


def _without_prose(page: Page, votes: Counter[int]) -> int | None:
    """The element at the usual path of nearly all pages, where this page says little there."""
    known = [index for index, path in enumerate(page.paths) if path in votes]
    total = sum(votes.values())
    if not known or total < page.numbers.path_documents:
        return None
    best = max(known, key=lambda index: (votes[page.paths[index]], page.words_in(index)))
    is_usual = votes[page.paths[best]] >= page.numbers.vote_share_alone * total
    return best if is_usual else None


def _mark_inside(page: Page, scores: Sequence[float], prose: list[float]) -> None:
    """Blocks of the main element, and of elements that say as much beside it or are at its path."""
    elements, main = page.document.elements, page.main
    assert main is not None  # noqa: S101 - for mypy: it was just found
    parent, said = elements[main].parent, page.sums(prose)
    least = page.numbers.sibling_share * scores[main]
    page.inside = [
        block.element == parent and words > 0
        for block, words in zip(page.document.blocks, prose, strict=True)
    ]
    for index, element in enumerate(elements):
        if page.marked[index] and index != main:
            continue
        is_alike = page.paths[index] == page.paths[main] and said(index) > 0
        is_beside = element.parent == parent and scores[index] >= least
        if index == main or is_alike or is_beside:
            first, behind = page.spans[index]
            page.inside[first:behind] = [True] * (behind - first)
    if page.title is not None:
        _let_in_standfirst(page, page.title)


def _let_in_standfirst(page: Page, title: int) -> None:
    """Text between the title block and the main element."""
    blocks = page.document.blocks
    marked = [page.marked[block.element] for block in blocks]
    is_main = [inside and not kind for inside, kind in zip(page.inside, marked, strict=True)]
    if True not in is_main[title + 1 :]:
        return
    for index in range(title + 1, is_main.index(True, title + 1)):
        words, linked = page.words[index], page.linked[index]
        if words >= _STANDFIRST and linked < words / 2 and not blocks[index].hidden:
            page.inside[index] = True


def doubt_title(page: Page) -> None:
    """A title block with a third of the text before it is none: it says so in a list of links."""
    if page.title is None or page.main is None:
        return
    total = before = 0.0
    for index, block in enumerate(page.document.blocks):
        if page.inside[index] and not page.marked[block.element]:
            total += page.prose[index]
            if index < page.title:
                before += page.prose[index]
    if before > _LATE * total:
        page.title = None


def above_main(page: Page) -> list[int]:
    """The main element and all around it."""
    return [] if page.main is None else above(page.document.elements, page.main)
