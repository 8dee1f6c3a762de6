"""Other articles that a page goes on with: infinite scroll.

    div.page
    ├── article   h1.title "This story"       the title block, and the article's own text
    └── article   h1.title "Another story"    an element that begins with a heading built alike

An article of its own may have several headings built like its title: what stands before the second
must say a quarter, at least, of what the element that begins there says.
"""

from __future__ import annotations

from collections.abc import Sequence

from urltree.evidence.page import Page

_EXEMPT = frozenset({"html", "body", "main"})
_LEAST = 0.25  # of the other article's score, that something before it has


def next_articles(page: Page, scores: Sequence[float]) -> list[tuple[int, int]]:
    """Spans of blocks, first and behind the last, of other articles than the titled one.

    Args:
        page: with its title block.
        scores: of elements, see `urltree.evidence.main_element`.
    """
    blocks, elements = page.document.blocks, page.document.elements
    if page.title is None or not blocks[page.title].heading:
        return []
    title = blocks[page.title]
    built_like = elements[title.element]
    found: list[tuple[int, int]] = []
    for index in range(page.title + 1, len(blocks)):
        block = blocks[index]
        element = elements[block.element]
        is_alike = element.tag == built_like.tag and element.tokens[:2] == built_like.tokens[:2]
        if not is_alike or block.heading != title.heading or block.hash == title.hash:
            continue
        outermost = _below_title(page, block.element)
        first, behind = page.spans[outermost]
        if outermost == block.element or first != index or elements[outermost].tag in _EXEMPT:
            continue
        if _says_enough_before(page, scores, first, behind):
            found.append((first, behind))
    return found


def _below_title(page: Page, element: int) -> int:
    """The outermost element around one that is not around the title block too."""
    elements = page.document.elements
    while elements[element].parent >= 0 and elements[element].parent not in page.above_title:
        element = elements[element].parent
    return element


def _says_enough_before(page: Page, scores: Sequence[float], first: int, behind: int) -> bool:
    assert page.title is not None  # noqa: S101 - for mypy: the caller has one
    within = before = 0.0
    for index, score in enumerate(scores):
        if score and index not in page.above_title:
            start, end = page.spans[index]
            if first <= start and end <= behind:
                within = max(within, score)
            elif page.title + 1 < end <= first:
                before = max(before, score)
    return within > 0 and before >= _LEAST * within
