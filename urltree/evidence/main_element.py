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

from collections.abc import Sequence

from urltree.elements import RUNNING
from urltree.evidence.page import Page, above
from urltree.path_statistics import PathStatistics

_WEIGHTS = (1.0, 0.5, 1 / 6, 1 / 9, 1 / 12, 1 / 15)
_MOST_WORDS = 150.0  # of one block that count
_MARKED = 0.25  # what prose counts where names speak against it
_STRONG = 0.5
_BEFORE_TITLE = 0.1
_LEAST_SCORE = 0.01


def find_main(page: Page, paths: PathStatistics, *, by_tags: bool = True) -> None:
    """Find the main element, and the blocks that stand in it or in what belongs to it."""
    if not page.document.elements:
        return
    prose = _prose(page)
    scores = _scores(page, prose)
    _weigh(page, scores, by_tags=by_tags)
    main = _by_votes(page, scores, paths)
    if main is None:
        main = max(range(len(scores)), key=scores.__getitem__)
        if not scores[main]:
            return
    page.main = main
    scores[main] = max(scores[main], _LEAST_SCORE)
    _mark_inside(page, scores, prose)


def _prose(page: Page) -> list[float]:
    """Words of each block that are running text; 0 for headings, links, and what recurs."""
    least, most_linked = page.numbers.prose_words, page.numbers.prose_linked
    return [
        words - linked
        if words >= least
        and linked <= most_linked * words
        and not (repeated or block.heading or block.hidden)
        else 0.0
        for block, words, linked, repeated in zip(
            page.document.blocks, page.words, page.linked, page.repeated, strict=True
        )
    ]


def _scores(page: Page, prose: Sequence[float]) -> list[float]:
    elements, marked = page.document.elements, page.marked
    scores = [0.0] * len(elements)
    for block, words in zip(page.document.blocks, prose, strict=True):
        if not words:
            continue
        element = block.element
        said = min(words * _MARKED if marked[element] else words, _MOST_WORDS)
        while element >= 0 and elements[element].tag in RUNNING:
            element = elements[element].parent
        for weight in _WEIGHTS:
            if element < 0:
                break
            scores[element] += said * weight
            element = elements[element].parent
    return scores


def _weigh(page: Page, scores: list[float], *, by_tags: bool) -> None:
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
        if by_tags and elements[index].tag in ("article", "main"):
            weight *= 1 + numbers.named_content
        if page.title is not None:
            shared = sum(one in page.above_title for one in above(elements, index))
            weight *= 1 + numbers.title_nearness * shared / len(page.above_title)
            if page.spans[index][1] <= page.title:
                weight *= _BEFORE_TITLE
        scores[index] = score * weight


def _by_votes(page: Page, scores: Sequence[float], paths: PathStatistics) -> int | None:
    """The element at the site's usual path, where most past pages agree on one."""
    numbers, votes = page.numbers, sum(paths.mains.values())
    if votes < numbers.votes:
        return None
    known = [index for index, path in enumerate(page.paths) if path in paths.mains]
    if not known:
        return None
    most = max(paths.mains[page.paths[index]] for index in known)
    usual = [index for index in known if paths.mains[page.paths[index]] == most]
    best = max(usual, key=scores.__getitem__)
    if scores[best] and most >= numbers.vote_share * votes:
        return best
    if votes >= numbers.path_documents and most >= numbers.vote_share_alone * votes:
        return max(usual, key=page.words_in)
    return None


def _mark_inside(page: Page, scores: Sequence[float], prose: list[float]) -> None:
    """Blocks of the main element, and of elements beside it that say as much or are built alike."""
    elements, main = page.document.elements, page.main
    assert main is not None  # noqa: S101 - for mypy: it was just found
    parent, said = elements[main].parent, page.sums(prose)
    least = page.numbers.sibling_share * scores[main]
    page.inside = [
        block.element == parent and words > 0
        for block, words in zip(page.document.blocks, prose, strict=True)
    ]
    for index, element in enumerate(elements):
        if element.parent != parent or (page.marked[index] and index != main):
            continue
        is_alike = page.paths[index] == page.paths[main] and said(index) > 0
        if index == main or is_alike or scores[index] >= least:
            first, behind = page.spans[index]
            page.inside[first:behind] = [True] * (behind - first)


def above_main(page: Page) -> list[int]:
    """The main element and all around it."""
    return [] if page.main is None else above(page.document.elements, page.main)
