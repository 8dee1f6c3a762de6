"""Generators that change a site's template: its class names, or its whole design."""

from __future__ import annotations

from dataclasses import replace

from lxml import html
from lxml.etree import Comment

from bench.hard_streams.cut_page import CutPage, parse_tree, serialise_html
from bench.hard_streams.insertions import StreamPages, on_each
from bench.hard_streams.naming import six_letters
from urltree_evaluation.corpus import CorpusPage

HASHED_EVERY = 200
SOON = 10  # number of first pages after a redesign, which are measured separately


def hashed_classes(pages: StreamPages) -> list[CorpusPage]:
    """Replace classes and ids by hashes that change every 200 pages, as with some build tools."""

    def change(number: int, article: CutPage) -> CorpusPage:
        root = parse_tree(article.page.html)
        assert root is not None  # noqa: S101 - the page was cut
        _rename(root, str(number // HASHED_EVERY))
        return replace(article.page, html=serialise_html(root))

    return on_each(pages, change)


def redesign(pages: StreamPages, *, soon: bool) -> list[CorpusPage]:
    """Give a new design to every page in the second half; only pages in the new design have gold.

    In the new design, classes and ids are different, the whole page is wrapped in two elements,
    each <div> outside of the article becomes a <section>, and the text around the article is
    different.

    Args:
        pages: pages of a site.
        soon: whether the first ten pages after the redesign are scored; otherwise the later pages
            are scored.
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
                element.set(
                    name, " ".join(six_letters(f"{salt} {token}") for token in value.split())
                )


def _redesigned(article: CutPage) -> str:
    marks = {"before": "<!--paragraph-->", "title": "<!--title-->"}
    root = parse_tree(article.put(marks))
    assert root is not None  # noqa: S101 - the page was cut
    kept = _kept(root)
    for element in list(root.iterfind("body//*")):
        if element not in kept:
            _reword(element)
    _rename(root, "redesign")
    body = root.find("body")
    assert body is not None  # noqa: S101 - the page was cut
    for name in ("page", "canvas"):
        wrapper = html.Element("div", {"class": six_letters(name)})
        wrapper.text, body.text = body.text, None
        wrapper.extend(list(body))
        body.append(wrapper)
    return serialise_html(root)


def _kept(root: html.HtmlElement) -> set[html.HtmlElement]:
    """Return all elements of the article and its title.

    Comments before the first paragraph and before the title mark these elements.
    """
    kept: set[html.HtmlElement] = set()
    for comment in list(root.iter(Comment)):
        if comment.text in ("paragraph", "title"):
            following = comment.getnext()
            top = following.getparent() if comment.text == "paragraph" else following
            kept.update(top.iter())
            comment.drop_tag()
    return kept


def _reword(element: html.HtmlElement) -> None:
    """Reverse the words in an element and after it; a <div> becomes a <section>."""
    if element.tag not in ("script", "style"):
        element.text = _reversed(element.text)
    element.tail = _reversed(element.tail)
    if element.tag == "div":
        element.tag = "section"


def _reversed(text: str | None) -> str | None:
    words = (text or "").split()
    return " ".join([*words[::-1], "new"]) if words else text
