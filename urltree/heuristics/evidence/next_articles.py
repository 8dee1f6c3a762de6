"""Other articles that a page goes on with: infinite scroll.

    div.page
    ├── article   h1.title "This story"       the title block, and the article's own text
    └── article   h1.title "Another story"    an element that begins with a heading built alike

An article of its own may have several headings built like its title: what stands before the second
must say a quarter, at least, of what the element that begins there says.
"""

from __future__ import annotations

from urltree.heuristics.evidence.features import PageFeatures
from urltree.html.elements import WHOLE_PAGE

_LEAST = 0.25  # of the other article's prose, that stands before it


def find_next_articles(page: PageFeatures) -> list[tuple[int, int]]:
    """Spans of blocks, first and behind the last, of other articles than the titled one."""
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
        if sum(page.prose[page.title : first]) >= _LEAST * sum(page.prose[first:behind]) > 0:
            found.append((first, behind))
    return found


def _begun_by(page: PageFeatures, index: int) -> int:
    """The outermost element that begins with a block."""
    parents, element = page.elements.parents, page.blocks.elements[index]
    while parents[element] >= 0 and page.first[parents[element]] == index:
        element = parents[element]
    return element
