"""Where a block stands: the path of an element, as a number that the pages of a site share.

    body > div.entry-content > p     the same on every article of a site

An element goes by its tag and its first two class names; by its id only where it has no class and
is no part of running text, since ids there are anchors of headings. Names of the page's own topics
(`category-…`) are passed over.
"""

from __future__ import annotations

import re
from functools import lru_cache

import xxhash

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.names import Names, kind_of_element
from urltree.html.elements import RUNNING

_OF_TOPICS = re.compile(r"(?:category|tag|author|cat|term)-")
_ANCHORED = RUNNING | {"section", "article"}
_PAGE = frozenset({"html", "body"})


@lru_cache(maxsize=65_536)  # pages of a site repeat their templates
def path_and_kind(
    parent: int, tag: str, tokens: tuple[str, ...], names: Names | None
) -> tuple[int, Kind]:
    """What is the same of an element on all pages: its path, and `kind_of_element`."""
    return path_below(parent, tag, tokens), kind_of_element(tag, tokens, names)


def path_below(parent: int, tag: str, tokens: tuple[str, ...]) -> int:
    """The path of an element, 32 bits, never 0.

    Args:
        parent: path of the element around it, 0 at the top.
        tag: of the element.
        tokens: its class and id tokens, `Element.tokens`.
    """
    return xxhash.xxh32_intdigest(" ".join((tag, *_names(tag, tokens))).encode(), seed=parent) or 1


def _names(tag: str, tokens: tuple[str, ...]) -> list[str]:
    if tag in _PAGE:
        return []
    classes = [name for name in tokens if name[0] != "#" and not _OF_TOPICS.match(name)]
    if classes or tag in _ANCHORED:
        return classes[:2]
    return [name for name in tokens if name[0] == "#"][:1]
