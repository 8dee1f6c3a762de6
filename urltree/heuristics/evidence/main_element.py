"""The main element: the element with the page's main text, chosen by the page and by its site.

    body                      score 17: a sixth of the words in div.entry
    ├── div.page              score 50: half of the words in div.entry
    │   ├── div.entry  ◀──    score 100: all words of its own paragraphs
    │   │   ├── p  40 words
    │   │   └── p  60 words
    │   └── div.latest        teasers: each is in an element of its own

Scores are in words. As in Arc90's Readability (2009), the words of a paragraph also count for the
elements around it. Text that recurs on the site does not count. Then links, names and the distance
to the title block change the scores.

The pages of a site have their main element at the same path. So each past page votes for its path,
and once the usual path is known, a page with more comments than text no longer decides alone.

Infinite scroll: a page may continue with other articles after its own.

    div.page
    ├── article   h1.title "This story"       the title block, and the article's own text
    └── article   h1.title "Another story"    an element that begins with a similar heading

An article may also contain several headings that are similar to its title. So the text before the
second heading must have at least a quarter of the words in the element that begins there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from urltree.heuristics.evidence.features import PageFeatures
from urltree.html.elements import WHOLE_PAGE
from urltree.tree.path_statistics import PathStatistics

# Share of a paragraph's words that counts for its container and for the elements around that.
_WEIGHTS = (1.0, 0.5, 1 / 6, 1 / 9, 1 / 12, 1 / 15)
_MOST_WORDS = 150.0  # words of one block that count at most
_MARKED = 0.25  # weight of text in elements that are marked as boilerplate
_STRONG = 0.5  # weight of elements with a strong word of boilerplate in their names
_BEFORE_TITLE = 0.1  # weight of elements that end before the title block
_LEAST_SCORE = 0.01  # score of a main element that has none of its own
_FEW = 40  # words that a marked element needs at least to be the main element
_LATE = 1 / 3  # share of the text before the title block, above which it is discarded
_STANDFIRST = 10  # words of a standfirst at least; a line with date and author has fewer
_LEAST_BEFORE_NEXT = 0.25  # words before a next article, as a share of the words in it
_LATER = 0.6  # weight of an element after a sibling with a similar score
_LATER_LEAST = 0.25  # share of its score that the earlier sibling has at least


def find_main(page: PageFeatures, paths: PathStatistics, main: int | None = None) -> None:
    """Find the main element, and mark the blocks that are inside it or belong to it.

    Sets `main`, `inside` and `next_articles` of the page.

    Args:
        page: with the marks of its elements.
        paths: path statistics of the site, with its votes.
        main: index of the main element, if it is known; None to choose it.
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
    """Return the words of running text in each block, 0 for blocks that recur on the site.

    A few recurrences are allowed: the page before and the page after may show this page's text
    too (infinite scroll).
    """
    numbers, counts, prose = page.parameters, page.counts, page.prose.copy()
    few = max(2.0, min(numbers.main_least, numbers.main_share * page.root.support))
    for index in page.prose_blocks:
        if page.repeated[index] and counts[index] > few:
            prose[index] = 0.0
    return prose


def _scores(page: PageFeatures, prose: Sequence[float]) -> dict[int, float]:
    """Return the scores of the elements that have one, in document order."""
    scores: defaultdict[int, float] = defaultdict(float)
    above: dict[int, list[int]] = {}
    for index in page.prose_blocks:
        words, element = prose[index], page.blocks.elements[index]
        if not words:
            continue
        counted = min(words * _MARKED if page.marked[element] else words, _MOST_WORDS)
        element = page.container(element)
        if element not in above:
            above[element] = page.elements.above(element)
        for one, weight in zip(above[element], _WEIGHTS, strict=False):
            scores[one] += counted * weight
    return dict(sorted(scores.items()))


def _weigh(page: PageFeatures, scores: dict[int, float]) -> None:
    """Weight the scores by links, by names, and by the distance to the title block."""
    numbers, tags, tokens = page.parameters, page.elements.tags, page.elements.tokens
    for index in scores:
        weight = 1 - page.linked_in(index) / page.words_in(index)
        if page.names is not None and tokens[index]:
            meaning = page.names.of(tokens[index])
            if meaning.is_content:
                weight *= 1 + numbers.named_content
            elif meaning.is_strong:
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
    """Return how many of an element and its ancestors contain the title block."""
    while element >= 0 and element not in page.title_ancestors:
        element = page.elements.parents[element]
    return page.title_ancestors.get(element, 0)


def _prefer_first(page: PageFeatures, scores: dict[int, float]) -> None:
    """Lower the scores of siblings after the title that follow an element with a similar score.

    The later ones are comments or other articles.
    """
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
    """Return the element at the site's usual path: by names, or by tags if the names are new."""
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
    """Return the element at the path with the most votes of all paths on this page."""
    known = [index for index in scores if paths[index] in votes]
    if not known:
        return None
    on_page = set(paths)
    present = sum([number for path, number in votes.items() if path in on_page])
    best = max(known, key=lambda index: (votes[paths[index]], scores[index]))
    is_usual = votes[paths[best]] >= page.parameters.vote_share * present
    return best if present >= page.parameters.votes and is_usual else None


def _without_prose(page: PageFeatures, votes: Counter[int]) -> int | None:
    """Return the element at the usual path of nearly all pages, even if it has little text here."""
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
    """Mark the blocks that belong to the main element as inside.

    These are its own, those of siblings with enough text, and those of elements at its path.
    """
    element_of, parents = page.blocks.elements, page.elements.parents
    prose_in = page.sums(prose)
    parent, path = parents[main], page.paths[main]
    page.inside = [False] * len(prose)
    for index in page.prose_blocks:
        page.inside[index] = element_of[index] == parent and prose[index] > 0
    alike = [index for index, one in enumerate(page.paths) if one == path and prose_in(index) > 0]
    least = page.parameters.sibling_share * scores[main]
    beside = [one for one, score in scores.items() if parents[one] == parent and score >= least]
    for index in (main, *alike, *beside):
        if index == main or not page.marked[index]:
            first, behind = page.first[index], page.end[index]
            page.inside[first:behind] = [True] * (behind - first)
    if page.title is not None:
        _let_in_standfirst(page, page.title)


def _let_in_standfirst(page: PageFeatures, title: int) -> None:
    """Mark the text between the title block and the main element as inside."""
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
    """Discard a title block if a third of the text precedes it.

    The matching block is then probably a link in a list of articles.
    """
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
    """Return the main element and its ancestors."""
    return [] if page.main is None else page.elements.above(page.main)


def find_next_articles(page: PageFeatures) -> list[tuple[int, int]]:
    """Return spans of blocks (first, after the last) of articles other than the titled one."""
    blocks, elements = page.document.blocks, page.document.elements
    if page.title is None or not blocks[page.title].heading:
        return []
    title, headings = blocks[page.title], page.blocks.headings
    built_like = elements[title.element]
    found: list[tuple[int, int]] = []
    for index in range(page.title + 1, len(blocks)):
        if headings[index] != title.heading:
            continue
        block = blocks[index]
        element = elements[block.element]
        is_alike = element.tag == built_like.tag and element.tokens[:2] == built_like.tokens[:2]
        if not is_alike or block.hash == title.hash:
            continue
        begun = _begun_by(page, index)
        first, behind = page.first[begun], page.end[begun]
        if begun == block.element or elements[begun].tag in WHOLE_PAGE:
            continue
        if (
            sum(page.prose[page.title : first])
            >= _LEAST_BEFORE_NEXT * sum(page.prose[first:behind])
            > 0
        ):
            found.append((first, behind))
    return found


def _begun_by(page: PageFeatures, index: int) -> int:
    """Return the outermost element whose first block is `index`."""
    parents, element = page.elements.parents, page.blocks.elements[index]
    while parents[element] >= 0 and page.first[parents[element]] == index:
        element = parents[element]
    return element
