"""Elements that their tag or their names call boilerplate, and those that are exempt.

Exempt is what holds the title block, the main element or nine tenths of the page's text: on 4 of 12
sites a name around the article ("overlay", "widget", "sidebar") had emptied all pages (issue 6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from urltree.boilerplate import Kind
from urltree.elements import HEADINGS, WHOLE_PAGE
from urltree.evidence.names import TAGS
from urltree.evidence.page import Page

_BODY = 0.4  # of the main element's words outside links
_MOST = 0.9  # of a page's words


def marks(page: Page, above_main: Collection[int] = (), main: int | None = None) -> list[int]:
    """Kind of boilerplate of each element, inherited by those inside; 0 where names say nothing.

    Args:
        page: where nothing is marked yet.
        above_main: elements that hold the main element, itself among them.
        main: the main element. Inside, ids are anchors: `<section id=more-highlights>`.
    """
    elements, names = page.document.elements, page.names
    most = _MOST * sum(page.words)
    marked = [0] * len(elements)
    in_main = [False] * len(elements)
    for index, (tag, parent, tokens) in enumerate(elements):
        in_main[index] = index == main or (parent >= 0 and in_main[parent])
        if parent >= 0 and marked[parent]:
            marked[index] = marked[parent]
            continue
        kind = Kind.CONTENT
        if tag in TAGS:
            kind = Kind.NAVIGATION
        elif tokens and names is not None:
            is_anchor = tag in HEADINGS or in_main[index]
            kind = names.of(_classes(tokens) if is_anchor else tokens).kind
        is_exempt = kind and (
            tag in WHOLE_PAGE
            or index in page.above_title
            or index in above_main
            or page.words_in(index) >= most
        )
        marked[index] = Kind.CONTENT if is_exempt else kind
    return marked


def unmark_body(page: Page) -> None:
    """Let stand a path with much of the main element's text, whatever its names but comments."""
    if page.main is None:
        return
    first, behind = page.spans[page.main]
    words: defaultdict[int, float] = defaultdict(float)
    elements_at: defaultdict[int, set[int]] = defaultdict(set)
    total = 0.0
    for index in range(first, behind):
        element = page.document.blocks[index].element
        if page.linked[index] <= page.words[index] / 2:
            total += page.words[index]
            if page.marked[element] == Kind.NAVIGATION:
                words[page.path_of[index]] += page.words[index]
                elements_at[page.path_of[index]].add(element)
    for path, of_path in words.items():
        if of_path >= _BODY * total:
            for element in elements_at[path]:
                page.marked[element] = Kind.CONTENT


def _classes(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([token for token in tokens if token[0] != "#"])
