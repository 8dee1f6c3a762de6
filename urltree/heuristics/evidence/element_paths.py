"""Element paths: numbers that identify the same place in the markup on all pages of a site.

    body > div.entry-content > p     the same path on every article of a site

A path is made of the tag and the first two class names of each element. If an element has no class
names, its id is used, except for running text and sections, where ids are anchors. Class names that
depend on the page's topic (`category-…`) are ignored.
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


@lru_cache(maxsize=65_536)  # the pages of a site share their templates
def path_and_kind(
    parent: int, tag: str, tokens: tuple[str, ...], names: Names | None
) -> tuple[int, Kind]:
    """Return the path of an element and its `kind_of_element`."""
    return path_below(parent, tag, tokens), kind_of_element(tag, tokens, names)


def path_below(parent: int, tag: str, tokens: tuple[str, ...]) -> int:
    """Return the path of an element as a number of 32 bits, never 0.

    Args:
        parent: path of the enclosing element, 0 for the outermost element.
        tag: tag of the element.
        tokens: class and id tokens of the element, see `Element.tokens`.
    """
    return xxhash.xxh32_intdigest(" ".join((tag, *_names(tag, tokens))).encode(), seed=parent) or 1


def _names(tag: str, tokens: tuple[str, ...]) -> list[str]:
    if tag in _PAGE:
        return []
    classes = [name for name in tokens if name[0] != "#" and not _OF_TOPICS.match(name)]
    if classes or tag in _ANCHORED:
        return classes[:2]
    return [name for name in tokens if name[0] == "#"][:1]
