"""The main element: the element with the page's main text, chosen by this page and by past pages.

    body                      score 17: a sixth of the words in div.entry
    ├── div.page              score 50: half of the words in div.entry
    │   ├── div.entry  ◀──    score 100: all words of its own paragraphs
    │   │   ├── p  40 words
    │   │   └── p  60 words
    │   └── div.latest        teasers: each is in an element of its own

Scores are in words. As in Arc90's Readability (2009), the words of a paragraph also count for the
elements around it. Text that recurs on the site does not count. Then links, names and the distance
to the title block change the scores.

The pages of a site have their main element at the same path. So the path of a past page's main
element counts as one vote. If one path has most votes, the element at this path is chosen, even on
a page whose comments are longer than its article.

Infinite scroll: a page may continue with other articles after its own article.

    div.page
    ├── article   h1.title "This story"       the title block, and the article's own text
    └── article   h1.title "Another story"    an element that begins with a similar heading

An article may also contain other headings that look like its title. So an element is another
article only if the text from the title to this element has at least a quarter of the words in this
element.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from urltree.heuristics.evidence.features import PageFeatures
from urltree.html.elements import WHOLE_PAGE
from urltree.tree.path_statistics import PathStatistics

# Shares of a paragraph's words that count for its container and for the elements around it.
_WEIGHTS = (1.0, 0.5, 1 / 6, 1 / 9, 1 / 12, 1 / 15)
_MOST_WORDS = 150.0  # largest number of words of one block that count
_MARKED = 0.25  # weight of text in elements that are marked as boilerplate
_STRONG = 0.5  # weight of elements with a strong word of boilerplate in their names
_BEFORE_TITLE = 0.1  # weight of elements that end before the title block
_LEAST_SCORE = 0.01  # score of a main element without running text of its own
_FEW = 40  # least number of words of a main element that is marked as boilerplate
_LATE = 1 / 3  # a title block is discarded if more than this share of the text precedes it
_STANDFIRST = 10  # least number of words of a standfirst (the summary below the title)
_LEAST_BEFORE_NEXT = 0.25  # least words before another article, as a share of the words in it
_LATER = 0.6  # weight of an element after a sibling with a similar score
_LATER_LEAST = 0.25  # least score of the earlier sibling, as a share of the later one's score


def find_main(page: PageFeatures, paths: PathStatistics, main: int | None = None) -> None:
    """Find the main element, the blocks that belong to it, and other articles on the page.

    Set `page.main`, `page.inside` and `page.next_articles`.

    Args:
        page: features of the page, with the marks of its elements.
        paths: path statistics of the site, with the paths of past main elements.
        main: index of the main element if it is known; None to choose the main element.
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

    A block may be on a few pages: with infinite scroll, the page before and the page after show
    the text of this page too.
    """
    numbers, counts, prose = page.parameters, page.counts, page.prose.copy()
    few = max(2.0, min(numbers.main_least, numbers.main_share * page.root.support))
    for index in page.prose_blocks:
        if page.repeated[index] and counts[index] > few:
            prose[index] = 0.0
    return prose


def _scores(page: PageFeatures, prose: Sequence[float]) -> dict[int, float]:
    """Return the score of each element that contains running text, in document order."""
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
    """Change the scores by links, by tags and names, and by the distance to the title block."""
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
    """Return how many elements contain the title block, counting the element and its ancestors."""
    while element >= 0 and element not in page.title_ancestors:
        element = page.elements.parents[element]
    return page.title_ancestors.get(element, 0)


def _prefer_first(page: PageFeatures, scores: dict[int, float]) -> None:
    """Lower the score of an element after the title that follows a sibling with a similar score.

    Such an element contains comments or another article.
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
    """Return the index of the element at the site's usual path, None if there is no such element.

    Paths with class names are compared first. If they give no element, for example because the
    class names are new, paths made of tags only are compared.
    """
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
    """Return the index of an element with a score, at the path with most votes on this page.

    Return None if the path has too few votes.
    """
    known = [index for index in scores if paths[index] in votes]
    if not known:
        return None
    on_page = set(paths)
    present = sum([number for path, number in votes.items() if path in on_page])
    best = max(known, key=lambda index: (votes[paths[index]], scores[index]))
    is_usual = votes[paths[best]] >= page.parameters.vote_share * present
    return best if present >= page.parameters.votes and is_usual else None


def _without_prose(page: PageFeatures, votes: Counter[int]) -> int | None:
    """Return the index of the element at the path that nearly all past pages have voted for.

    The element may have little text on this page. Return None if there is no such element.
    """
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
    """Set `page.inside`: the blocks that belong to the main element.

    These are the blocks in the main element, in siblings with a high score, and in elements at the
    same path, and the running text directly in its parent. A standfirst belongs to it too.
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
    """Set `page.inside` for a standfirst between the title block and the main element.

    Each text between them with at least ten words is a standfirst; a line with date and author has
    fewer words.
    """
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
    """Discard a title block if more than a third of the main element's running text precedes it.

    The title block is then probably wrong: a link in a list of articles.
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
    """Return the spans of blocks (first, after the last) of other articles on the page.

    The page's own article begins with the title block.
    """
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
    """Return the index of the outermost element whose first block has this index."""
    parents, element = page.elements.parents, page.blocks.elements[index]
    while parents[element] >= 0 and page.first[parents[element]] == index:
        element = parents[element]
    return element
