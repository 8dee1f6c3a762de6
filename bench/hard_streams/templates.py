"""Generators that change a site's template: its class names, or all of its design."""

from __future__ import annotations

from dataclasses import replace

from lxml import html
from lxml.etree import Comment

from bench.hard_streams.cut_page import CutPage, parsed, serialised
from bench.hard_streams.insertions import Pages, on_each
from bench.hard_streams.naming import letters
from urltree_evaluation.corpus import CorpusPage

HASHED_EVERY = 200
SOON = 10  # pages after a redesign that have another bar


def hashed_classes(pages: Pages) -> list[CorpusPage]:
    """Classes and ids become digests, and others every 200 pages, as build tools make them."""

    def change(number: int, article: CutPage) -> CorpusPage:
        root = parsed(article.page.html)
        assert root is not None  # noqa: S101 - it was cut
        _rename(root, str(number // HASHED_EVERY))
        return replace(article.page, html=serialised(root))

    return on_each(pages, change)


def redesign(pages: Pages, *, soon: bool) -> list[CorpusPage]:
    """From the middle on every page has a new design; the pages after it alone have gold.

    Classes and ids are others, everything is wrapped, each div outside the article is a section,
    and what surrounds the article says the same in other words.

    Args:
        pages: of a site.
        soon: the first ten pages after it are scored, else those from the tenth on.
    """
    middle = len(pages) // 2

    def change(number: int, article: CutPage) -> CorpusPage:
        is_scored = number >= middle and (number < middle + SOON) == soon
        text = _redesigned(article) if number >= middle else article.page.html
        return replace(article.page, html=text, gold=article.page.gold if is_scored else None)

    return on_each(pages, change)


def _rename(root: html.HtmlElement, salt: str) -> None:
    for element in root.iter("*"):
        for name in ("class", "id"):
            if value := element.get(name):
                element.set(name, " ".join(letters(f"{salt} {token}") for token in value.split()))


def _redesigned(article: CutPage) -> str:
    marks = {"before": "<!--paragraph-->", "title": "<!--title-->"}
    root = parsed(article.put(marks))
    assert root is not None  # noqa: S101 - it was cut
    kept = _kept(root)
    for element in list(root.iterfind("body//*")):
        if element not in kept:
            _reword(element)
    _rename(root, "redesign")
    body = root.find("body")
    assert body is not None  # noqa: S101 - it was cut
    for name in ("page", "canvas"):
        wrapper = html.Element("div", {"class": letters(name)})
        wrapper.text, body.text = body.text, None
        wrapper.extend(list(body))
        body.append(wrapper)
    return serialised(root)


def _kept(root: html.HtmlElement) -> set[html.HtmlElement]:
    """The article and its title, by the comments before its first paragraph and its title."""
    kept: set[html.HtmlElement] = set()
    for comment in list(root.iter(Comment)):
        if comment.text in ("paragraph", "title"):
            following = comment.getnext()
            top = following.getparent() if comment.text == "paragraph" else following
            kept.update(top.iter())
            comment.drop_tag()
    return kept


def _reword(element: html.HtmlElement) -> None:
    """Say what an element says in another order of words, on all pages the same."""
    if element.tag not in ("script", "style"):
        element.text = _reversed(element.text)
    element.tail = _reversed(element.tail)
    if element.tag == "div":
        element.tag = "section"


def _reversed(text: str | None) -> str | None:
    words = (text or "").split()
    return " ".join([*words[::-1], "new"]) if words else text
