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

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.evidence.next_articles import find_next_articles
from urltree.tree.path_statistics import PathStatistics

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


def find_main(page: PageFeatures, paths: PathStatistics, main: int | None = None) -> None:
    """Find the main element, and the blocks that stand in it or in what belongs to it.

    Args:
        page: whose names have marked its elements.
        paths: of the site, which votes.
        main: the main element, where it is known.
    """
    if not page.paths:
        return
    prose = _new_prose(page)
    scores = _scores(page, prose)
    _weigh(page, scores)
    _prefer_first(page, scores)
    page.next_articles = find_next_articles(page)
    for first, behind in page.next_articles:
        for index in scores:
            if first <= page.first[index] and page.end[index] <= behind:
                scores[index] = 0.0
    scores = {index: score for index, score in scores.items() if score}
    if main is None:
        main = _by_votes(page, scores, paths)
    if main is None and scores:
        main = max(scores, key=scores.__getitem__)
        if page.marked[main] and page.sums(prose)(main) < _FEW:
            return
    if main is None:
        return
    page.main = main
    scores[main] = max(scores.get(main, 0.0), _LEAST_SCORE)
    _mark_inside(page, main, scores, prose)


def _new_prose(page: PageFeatures) -> list[float]:
    """Words of running text in each block that does not recur on the site.

    This page's own text may stand on the one before and the one after it (infinite scroll).
    """
    numbers, counts, prose = page.parameters, page.counts, page.prose.copy()
    few = max(2.0, min(numbers.main_least, numbers.main_share * page.root.support))
    for index in page.prose_blocks:
        if page.repeated[index] and counts[index] > few:
            prose[index] = 0.0
    return prose


def _scores(page: PageFeatures, prose: Sequence[float]) -> dict[int, float]:
    """Scores of the elements that have any, in the order of the document."""
    scores: defaultdict[int, float] = defaultdict(float)
    above: dict[int, list[int]] = {}
    for index in page.prose_blocks:
        words, element = prose[index], page.blocks.elements[index]
        if not words:
            continue
        said = min(words * _MARKED if page.marked[element] else words, _MOST_WORDS)
        element = page.container(element)
        if element not in above:
            above[element] = page.elements.above(element)
        for one, weight in zip(above[element], _WEIGHTS, strict=False):
            scores[one] += said * weight
    return dict(sorted(scores.items()))


def _weigh(page: PageFeatures, scores: dict[int, float]) -> None:
    """By links, by names, by where the title block stands."""
    numbers, tags, tokens = page.parameters, page.elements.tags, page.elements.tokens
    for index in scores:
        weight = 1 - page.linked_in(index) / page.words_in(index)
        if page.names is not None and tokens[index]:
            said = page.names.of(tokens[index])
            if said.is_content:
                weight *= 1 + numbers.named_content
            elif said.is_strong:
                weight *= _STRONG
        if tags[index] in ("article", "main"):
            weight *= 1 + numbers.named_content
        if page.title is not None:
            weight *= 1 + numbers.title_nearness * _shared_with_title(page, index) / len(
                page.title_ancestors
            )
            if page.end[index] <= page.title:
                weight *= _BEFORE_TITLE
        scores[index] *= weight


def _shared_with_title(page: PageFeatures, element: int) -> int:
    """Of an element and all around it, how many hold the title block."""
    while element >= 0 and element not in page.title_ancestors:
        element = page.elements.parents[element]
    return page.title_ancestors.get(element, 0)


def _prefer_first(page: PageFeatures, scores: dict[int, float]) -> None:
    """Of elements beside each other after the title, comments and other articles come later."""
    if page.title is None:
        return
    best: dict[int, float] = {}
    for index, score in scores.items():
        if score and page.end[index] > page.title + 1 and index not in page.title_ancestors:
            parent = page.elements.parents[index]
            if best.get(parent, 0.0) >= _LATER_LEAST * score:
                scores[index] = score * _LATER
            else:
                best[parent] = max(best.get(parent, 0.0), score)


def _by_votes(page: PageFeatures, scores: Mapping[int, float], paths: PathStatistics) -> int | None:
    """The element at the site's usual path, by names or, where those are new, by tags alone."""
    found = _elected(page, scores, page.paths, paths.mains)
    if found is None:
        found = _without_prose(page, paths.mains)
    if found is None and paths.mains_by_tags.total() >= page.parameters.votes:
        found = _elected(page, scores, page.paths_by_tags(), paths.mains_by_tags)
    return found


def _elected(
    page: PageFeatures,
    scores: Mapping[int, float],
    paths: list[int],
    votes: Counter[int],
) -> int | None:
    """The element at the path that has most votes of those that are on the page."""
    known = [index for index in scores if paths[index] in votes]
    if not known:
        return None
    on_page = set(paths)
    present = sum([number for path, number in votes.items() if path in on_page])
    best = max(known, key=lambda index: (votes[paths[index]], scores[index]))
    is_usual = votes[paths[best]] >= page.parameters.vote_share * present
    return best if present >= page.parameters.votes and is_usual else None


def _without_prose(page: PageFeatures, votes: Counter[int]) -> int | None:
    """The element at the usual path of nearly all pages, where this page says little there."""
    total = sum(votes.values())
    if total < page.parameters.path_documents:
        return None
    known = [index for index, path in enumerate(page.paths) if path in votes]
    if not known:
        return None
    best = max(known, key=lambda index: (votes[page.paths[index]], page.words_in(index)))
    is_usual = votes[page.paths[best]] >= page.parameters.vote_share_alone * total
    return best if is_usual else None


def _mark_inside(
    page: PageFeatures, main: int, scores: Mapping[int, float], prose: list[float]
) -> None:
    """Blocks of the main element, and of elements that say as much beside it or are at its path."""
    element_of, parents, said = page.blocks.elements, page.elements.parents, page.sums(prose)
    parent, path = parents[main], page.paths[main]
    page.inside = [False] * len(prose)
    for index in page.prose_blocks:
        page.inside[index] = element_of[index] == parent and prose[index] > 0
    alike = [index for index, one in enumerate(page.paths) if one == path and said(index) > 0]
    least = page.parameters.sibling_share * scores[main]
    beside = [one for one, score in scores.items() if parents[one] == parent and score >= least]
    for index in (main, *alike, *beside):
        if index == main or not page.marked[index]:
            first, behind = page.first[index], page.end[index]
            page.inside[first:behind] = [True] * (behind - first)
    if page.title is not None:
        _let_in_standfirst(page, page.title)


def _let_in_standfirst(page: PageFeatures, title: int) -> None:
    """Text between the title block and the main element."""
    elements, hidden = page.blocks.elements, page.blocks.hidden
    between: list[int] = []
    for index in range(title + 1, len(elements)):
        if page.inside[index] and not page.marked[elements[index]]:
            break
        between.append(index)
    else:
        return
    for index in between:
        words, linked = page.words[index], page.linked[index]
        if words >= _STANDFIRST and linked < words / 2 and not hidden[index]:
            page.inside[index] = True


def doubt_title(page: PageFeatures) -> None:
    """A title block with a third of the text before it is none: it says so in a list of links."""
    if page.title is None or page.main is None:
        return
    total = before = 0.0
    for index in page.prose_blocks:
        if page.inside[index] and not page.marked[page.blocks.elements[index]]:
            total += page.prose[index]
            if index < page.title:
                before += page.prose[index]
    if before > _LATE * total:
        page.title = None


def above_main(page: PageFeatures) -> list[int]:
    """The main element and all around it."""
    return [] if page.main is None else page.elements.above(page.main)
