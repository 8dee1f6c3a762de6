"""Decide which links of a section page lead to new articles, by the structure of the site itself.

first look    links at one place ─▶ headlines? ─▶ articles; their places and shapes are learned
              all addresses of the page are known from now on
later looks   a new address at the place of articles                      an article
              a new address of the shape of articles, with a headline     an article
              a new address with a headline, of a shape never seen        an article
              any other new address                                       no article

A *place* is a path of tags and class names (`section.py`). A *shape* is an address whose variable
parts are replaced: `/news/2026/11/after-the-flood-17.html` has the shape `/news/9/9/slug.html`.
Navigation stays on the page, so from the second look on it is not asked about. Tags, authors and
numbers of pages that appear later have shapes and places that were no articles before.

The decisions use widths, repetition and names of elements, and no words of a language.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple
from unicodedata import east_asian_width
from urllib.parse import urlsplit

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.source.address_shape import (
    address_shape,
    has_own_name,
    is_distinctive,
)
from urltree.crawl.decisions.source.section import is_navigation, link_key
from urltree.crawl.decisions.source.section_memory import SectionMemory

HEADLINE = 24  # least width of a headline in columns; a letter of Chinese or Japanese has two
SHORT_HEADLINE = 12  # the same, for links in a heading or at a place of articles
REPEATED = 3  # links at one place that make it a list

_HEADING = re.compile(r"/h[1-6](?:[./]|$)")
_MANY = 5  # articles of one shape; other links of the shape are articles, too
_LOOSE = 4  # elements of a place that are compared
_DIGITS = re.compile(r"\d+")


def new_articles(
    links: Sequence[FeedItem], learned: Mapping[str, Any] | None
) -> tuple[tuple[FeedItem, ...], dict[str, Any]]:
    """Return the links that lead to new articles, and what to remember for the next look.

    Args:
        links: links of the page (`find_links`).
        learned: what the last look has returned; None at the first look.

    Returns:
        The new articles in the order of the page, and a mapping for JSON of at most about 30 KB:
        digests of known addresses, the places of articles, and how many articles and other links
        had each shape. An empty page leaves it unchanged.
    """
    memory = SectionMemory(learned or {})
    if not links:
        return (), memory.as_json()
    fresh = [link for link in links if link_key(link.link) not in memory]
    chosen = _choose(fresh, memory, is_first=memory.is_empty)
    articles = {link.link for link in chosen}
    for link in fresh:
        memory.learn(link, loose_place(link), is_article=link.link in articles)
    memory.know(links)
    repeated = _repeated_texts(links)
    items = [replace(link, title=None) if link.title in repeated else link for link in chosen]
    return tuple(items), memory.as_json()


def _choose(fresh: Sequence[FeedItem], memory: SectionMemory, *, is_first: bool) -> list[FeedItem]:
    """Return the articles among the links that are not known."""
    groups: dict[str, list[FeedItem]] = defaultdict(list)
    for link in fresh:
        groups[_group(link)].append(link)
    lists = {name for name, group in groups.items() if _is_list(group, is_first=is_first)}
    if is_first and not lists:
        lists = {name for name, group in groups.items() if _is_list_of_equal_texts(group)}
    page = _Page(
        lists=lists,
        places={loose_place(link) for name in lists for link in groups[name]},
        shapes=Counter(address_shape(link.link) for name in lists for link in groups[name]),
    )
    is_article = _is_article_at_first if is_first else _is_article_later
    return [
        link
        for link in fresh
        if not _is_front(link.link)
        and (is_article(link, page, memory) or _has_shape_of_articles(link, page, memory))
    ]


class _Page(NamedTuple):
    """The lists of articles among the new links of one look.

    Attributes:
        lists: names of the groups that are lists.
        places: loose places of these lists.
        shapes: shapes of their links, with the number of links.
    """

    lists: set[str]
    places: set[str]
    shapes: Counter[str]


def _is_article_at_first(link: FeedItem, page: _Page, _memory: SectionMemory) -> bool:
    """Return whether a link is in a list, or beside the lists and like their links."""
    if _group(link) in page.lists:
        return True
    is_alike = address_shape(link.link) in page.shapes or loose_place(link) in page.places
    return is_alike and _may_be_headline(link)


def _is_article_later(link: FeedItem, page: _Page, memory: SectionMemory) -> bool:
    """Return whether a new link is one of the articles, whose shapes and places were learned."""
    articles, others = memory.shape(address_shape(link.link))
    is_certain = articles >= others or not memory.has_places
    if _group(link) in page.lists and (is_certain or _is_linked_heading(link)):
        return True
    if memory.has_place(loose_place(link)):
        return articles > others or (articles == others and _is_headline(link))
    return articles > others and _may_be_headline(link)


def _has_shape_of_articles(link: FeedItem, page: _Page, memory: SectionMemory) -> bool:
    """Return whether the shape shows an article wherever the link is, in navigation too."""
    shape = address_shape(link.link)
    articles, others = memory.shape(shape)
    if articles <= others and page.shapes[shape] < REPEATED:
        return False
    is_common = max(articles, page.shapes[shape]) >= _MANY
    return _width(link.title) >= HEADLINE or (is_common and is_distinctive(shape))


def loose_place(link: FeedItem) -> str:
    """Return the innermost elements of a link's place, with 9 for each number in their names.

    Teasers of one list are in columns of different widths, and the first of them in a box of its
    own, but the elements around their headlines are the same.
    """
    return _DIGITS.sub("9", "/".join((link.place or "").split("/")[-_LOOSE:]))


def _group(link: FeedItem) -> str:
    """Return the name of the links that may form a list: one place, and one kind of shape."""
    shape = address_shape(link.link)
    return f"{loose_place(link)} {'slug' if 'slug' in shape else has_own_name(shape)}"


def _is_list(group: Sequence[FeedItem], *, is_first: bool) -> bool:
    """Return whether links at one place, with one kind of shape, are a list of articles."""
    if is_first and len(group) < REPEATED:
        return False
    if len(group) >= REPEATED and len({link.title for link in group}) == 1:
        return False
    place = group[0].place or ""
    width = median(_width(link.title) for link in group)
    is_page = has_own_name(address_shape(group[0].link))
    has_heading = _HEADING.search(place) is not None
    if _is_in_navigation(place):
        return has_heading and is_page and width >= HEADLINE
    if has_heading:
        return width >= (SHORT_HEADLINE if is_page else HEADLINE)
    return width >= HEADLINE


def _is_list_of_equal_texts(group: Sequence[FeedItem]) -> bool:
    """Return whether links are "read more", or pictures without text, of a list of articles."""
    is_page = has_own_name(address_shape(group[0].link))
    is_equal = len({link.title for link in group}) == 1
    return (
        len(group) >= REPEATED
        and is_page
        and is_equal
        and not _is_in_navigation(group[0].place or "")
    )


def _is_headline(link: FeedItem) -> bool:
    place = link.place or ""
    if _is_in_navigation(place):
        return False
    return _width(link.title) >= (SHORT_HEADLINE if _HEADING.search(place) else HEADLINE)


def _is_linked_heading(link: FeedItem) -> bool:
    is_heading = _HEADING.search(link.place or "") is not None
    return is_heading and _width(link.title) >= HEADLINE


def _may_be_headline(link: FeedItem) -> bool:
    return _is_headline(link) or (
        _width(link.title) >= SHORT_HEADLINE
        and has_own_name(address_shape(link.link))
        and not _is_in_navigation(link.place or "")
    )


def _is_in_navigation(place: str) -> bool:
    return any(is_navigation(name) for name in place.split("/"))


def _is_front(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def _width(text: str | None) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in (text or "")[:200])


def _repeated_texts(links: Sequence[FeedItem]) -> set[str | None]:
    """Return texts that several links have, such as "read more"; they are no titles."""
    counts = Counter(link.title for link in links)
    return {text for text, count in counts.items() if count >= REPEATED}
