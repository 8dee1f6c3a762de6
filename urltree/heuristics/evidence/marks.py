"""Marks: they label an element as boilerplate because of its tag, its class names or its id.

Some elements are exempt: those that contain the title block, the main element, or nine tenths of
the page's text. Without this rule, a name of an element around the article ("overlay", "widget",
"sidebar") removed the text of all pages on 4 of 12 sites.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.features import PageFeatures
from urltree.heuristics.evidence.names import classes, kind_of_element
from urltree.html.elements import WHOLE_PAGE

_BODY = 0.4  # marks at a path are removed if it has at least this share of the main element's text
_MOST = 0.9  # an element with at least this share of a page's words is exempt


def mark_elements(
    page: PageFeatures, above_main: Collection[int] = (), main: int | None = None
) -> list[int]:
    """Return the kind of boilerplate of each element by its tag and names, 0 for none.

    The descendants of a marked element get the same kind.

    Args:
        page: features of the page; `page.marked` is not read.
        above_main: the main element and its ancestors, which are exempt.
        main: the main element. Ids inside it are anchors (`<section id=more-highlights>`) and are
            ignored.
    """
    most = _MOST * sum(page.words)
    named = page.named if main is None else _named_without_anchors(page, main)
    marked = [0] * len(named)
    for index in [element for element, kind in enumerate(named) if kind]:
        if marked[index]:
            continue
        is_exempt = (
            page.elements.tags[index] in WHOLE_PAGE
            or index in page.title_ancestors
            or index in above_main
            or page.words_in(index) >= most
        )
        if not is_exempt:
            behind = page.last_inside(index) + 1
            marked[index:behind] = [named[index]] * (behind - index)
    return marked


def unmark_main_text(page: PageFeatures) -> None:
    """Remove marks of navigation at paths that have much of the main element's text.

    Marks of comments remain.
    """
    if page.main is None:
        return
    words: defaultdict[int, float] = defaultdict(float)
    elements_at: defaultdict[int, set[int]] = defaultdict(set)
    total = 0.0
    for index in range(page.first[page.main], page.end[page.main]):
        element = page.blocks.elements[index]
        if page.linked[index] <= page.words[index] / 2:
            total += page.words[index]
            if page.marked[element] == Kind.NAVIGATION:
                words[page.path_of[index]] += page.words[index]
                elements_at[page.path_of[index]].add(element)
    for path, of_path in words.items():
        if of_path >= _BODY * total:
            for element in elements_at[path]:
                page.marked[element] = Kind.CONTENT


def _named_without_anchors(page: PageFeatures, main: int) -> list[int]:
    """Return `page.named` as it would be if elements inside the main element had no ids."""
    tags, _, tokens = page.elements
    named = page.named.copy()
    for index in range(main, page.last_inside(main) + 1):
        if tokens[index]:
            named[index] = kind_of_element(tags[index], classes(tokens[index]), page.names)
    return named
