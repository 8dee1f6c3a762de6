"""A page cut at the places where a generator may put something, or take something away.

    start    title <h1> titled    before <p> after 0 <p> after 1 … inside    outside    end
    <body>                        └ the element that holds the article ┘            </body>

The gold says which elements are the article's: those whose text is one of its lines. The element
that is the parent of most of that text holds the article; its children are the paragraphs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import cast

from lxml import html
from lxml.etree import Comment, ParserError

from urltree.evaluation.corpus import CorpusPage

_MARK = "place of a generator"
_PARAGRAPHS = ("p", "li", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "div", "ul", "ol")
_MAX_CHILDREN = 200  # beyond it a div is no paragraph, and its text is not worth comparing
_Lines = dict[html.HtmlElement, int]


@dataclass(frozen=True, slots=True)
class CutPage:
    """A page in pieces.

    Attributes:
        page: as it came.
        places: their names, in the order of the page.
        pieces: the markup before each place, then what is after the last.
        lines: of each paragraph, the number of its last line in the gold.
    """

    page: CorpusPage
    places: tuple[str, ...]
    pieces: tuple[str, ...]
    lines: tuple[int, ...]

    @property
    def title(self) -> str:
        """That of the record, which is the gold's first line."""
        return self.page.title or self.gold[0]

    @property
    def gold(self) -> list[str]:
        """The gold's lines."""
        return (self.page.gold or "").split("\n")

    @property
    def standfirst(self) -> str:
        """The first paragraph."""
        return self.gold[self.lines[0]]

    def between(self, first: str, last: str) -> str:
        """The markup from one place to another."""
        return "".join(self.pieces[self.places.index(first) + 1 : self.places.index(last) + 1])

    def heading(self) -> str:
        """The markup of the title, made up where the page's was not found."""
        return self.between("title", "titled") if "title" in self.places else "<h1></h1>"

    def put(self, added: Mapping[str, str], cut: tuple[str, str] | None = None) -> str:
        """The page with markup put into places.

        Args:
            added: markup by place.
            cut: what stood between these two places is left out, whatever was put there.
        """
        start, stop = map(self.places.index, cut) if cut else (0, 0)
        whole = [self.pieces[0]]
        for number, place in enumerate(self.places):
            if not start < number < stop:
                whole.append(added.get(place, ""))
            if not start <= number < stop:
                whole.append(self.pieces[number + 1])
        return "".join(whole)


@lru_cache(maxsize=2_048)  # all generators cut the same pages
def cut(page: CorpusPage) -> CutPage | None:
    """Cut a page; None where it has no gold, or its article's paragraphs are not found."""
    root = parsed(page.html)
    if root is None or not page.gold:
        return None
    gold = [_key(line) for line in page.gold.split("\n")]
    found = _paragraphs(root, gold)
    if not found:
        return None
    holder = cast("html.HtmlElement", next(iter(found)).getparent())
    body = root.find("body")
    if holder is None or body is None or holder is body:
        return None
    _mark_title(root, gold[0], next(iter(found)))
    body.insert(0, _mark("start"))
    next(iter(found)).addprevious(_mark("before"))
    for number, element in enumerate(found):
        element.addnext(_mark(f"after {number}"))
    holder.append(_mark("inside"))
    holder.addnext(_mark("outside"))
    body.append(_mark("end"))
    return _in_pieces(page, serialised(root), tuple(found.values()))


def parsed(text: str) -> html.HtmlElement | None:
    """The tree of a page; None where it has none."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser)
    except ParserError:
        return None


def serialised(root: html.HtmlElement) -> str:
    """The page of a tree."""
    return cast("str", html.tostring(root, encoding="unicode", doctype="<!DOCTYPE html>"))


def paragraphs(page: CutPage) -> list[tuple[str, list[str]]]:
    """Markup and lines of each part of the article, from its standfirst on."""
    last = len(page.lines) - 1
    places = ["before", *(f"after {number}" for number in range(last + 1))]
    ends = [page.lines[0] - 1, *page.lines]
    return [
        (page.between(first, second), page.gold[start + 1 : end + 1])
        for (first, second), (start, end) in zip(pairwise(places), pairwise(ends), strict=True)
    ]


def _paragraphs(root: html.HtmlElement, gold: Sequence[str]) -> _Lines:
    """The article's paragraphs that are siblings, with their lines in the gold."""
    by_parent: dict[html.HtmlElement, _Lines] = defaultdict(dict)
    sought = set(gold[1:]) - {""}
    for element in root.iter(*_PARAGRAPHS):
        if len(element) <= _MAX_CHILDREN and (key := _key(element.text_content())) in sought:
            by_parent[element.getparent()][element] = gold.index(key, 1)
    rising = [_rising(found) for found in by_parent.values()]
    return max(
        rising, key=lambda found: sum(len(gold[line]) for line in found.values()), default={}
    )


def _rising(found: _Lines) -> _Lines:
    """Those whose lines follow each other: a line that comes twice is found at its first."""
    kept: _Lines = {}
    for element, line in found.items():
        if not kept or line > max(kept.values()):
            kept[element] = line
    return kept


def _mark_title(root: html.HtmlElement, title: str, paragraph: html.HtmlElement) -> None:
    """Mark the last heading before the article that says its title."""
    chosen = None
    for element in root.iter("h1", "h2", "h3", paragraph.tag):
        if element is paragraph:
            break
        if element.tag != paragraph.tag and _key(element.text_content()) == title:
            chosen = element
    if chosen is not None:
        chosen.addprevious(_mark("title"))
        chosen.addnext(_mark("titled"))


def _in_pieces(page: CorpusPage, text: str, lines: tuple[int, ...]) -> CutPage:
    first, *rest = text.split(f"<!--{_MARK}: ")
    parts = [part.partition("-->") for part in rest]
    places = tuple(name for name, _, _ in parts)
    return CutPage(page, places, (first, *(piece for _, _, piece in parts)), lines)


def _mark(place: str) -> html.HtmlElement:
    return Comment(f"{_MARK}: {place}")


def _key(text: str) -> str:
    return "".join(text.split())
