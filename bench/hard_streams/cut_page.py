"""Cut a page at the places where a generator can insert or remove markup.

    start    title <h1> titled    held    before <p> after 0 <p> after 1 … inside    outside    end
    <body>                        └──── the element that holds the article ─────┘            </body>

An element belongs to the article if its text is a line of the gold. The innermost element that
contains nearly all of this text is the holder of the article. The children of the holder that
contain lines of the gold are the parts of the article.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import cast

from lxml import html
from lxml.etree import Comment, ParserError

from urltree_evaluation.corpus import CorpusPage

_MARK = "place of a generator"
_PARAGRAPHS = ("p", "li", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "div", "ul", "ol")
_MAX_CHILDREN = (
    200  # an element with more children is not a paragraph, and its text would take long to compare
)
_NEARLY_ALL = 0.95
# the parts of an article, with the numbers of the first and the last line of gold in each part
_Parts = dict[html.HtmlElement, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class CutPage:
    """A page that is cut at the places where generators insert markup.

    Attributes:
        page: original page.
        places: names of the places, in the order of the page.
        pieces: markup before each place, then the markup after the last place.
        lines: numbers of the first and last line of gold in each part of the article.
    """

    page: CorpusPage
    places: tuple[str, ...]
    pieces: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]

    @property
    def title(self) -> str:
        """The title of the record; without one, the first line of the gold."""
        return self.page.title or self.gold[0]

    @property
    def gold(self) -> list[str]:
        """The lines of the gold."""
        return (self.page.gold or "").split("\n")

    @property
    def standfirst(self) -> str:
        """The first line of gold after the title, which is the article's first paragraph."""
        return self.gold[self.lines[0][0]]

    def between(self, first: str, last: str) -> str:
        """Return the markup between two places."""
        return "".join(self.pieces[self.places.index(first) + 1 : self.places.index(last) + 1])

    def article(self) -> str:
        """Return the markup of the article; it includes the title if the title was found."""
        text = self.between("held", "inside")
        titles = self.places[: self.places.index("held")].count("title")
        return self.between("title", "titled") + text if titles else text

    def put(self, added: Mapping[str, str], cut: tuple[str, str] | None = None) -> str:
        """Return the page with markup inserted at places.

        Args:
            added: markup to insert, by place.
            cut: two places; all markup between these places is removed, including added markup.
        """
        start, stop = map(self.places.index, cut) if cut else (0, 0)
        whole = [self.pieces[0]]
        for number, place in enumerate(self.places):
            if not start < number < stop:
                whole.append(added.get(place, ""))
            if not start <= number < stop:
                whole.append(self.pieces[number + 1])
        return "".join(whole)


@lru_cache(maxsize=2_048)  # because all generators cut the same pages
def cut_page(page: CorpusPage) -> CutPage | None:
    """Cut a page; return None if the page has no gold or its article is not found."""
    root = parse_tree(page.html)
    if root is None or not page.gold:
        return None
    gold = [_key(line) for line in page.gold.split("\n")]
    found = _found(root, gold)
    holder, body = _holder(root, found, gold), root.find("body")
    parts = _parts(holder, found)
    if not parts or body is None or holder in (root, body):
        return None
    first = next(iter(parts))
    _mark_title(root, gold[0], first)
    body.insert(0, _mark("start"))
    holder.insert(0, held := _mark("held"))
    held.tail, holder.text = holder.text, None
    first.addprevious(_mark("before"))
    for number, element in enumerate(parts):
        element.addnext(_mark(f"after {number}"))
    holder.append(_mark("inside"))
    holder.addnext(_mark("outside"))
    body.append(_mark("end"))
    return _in_pieces(page, serialise_html(root), tuple(parts.values()))


def parse_tree(text: str) -> html.HtmlElement | None:
    """Parse a page; return None if the page has no element."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser)
    except ParserError:
        return None


def serialise_html(root: html.HtmlElement) -> str:
    """Return the HTML of a tree."""
    return cast("str", html.tostring(root, encoding="unicode", doctype="<!DOCTYPE html>"))


def paragraphs(page: CutPage) -> list[tuple[str, list[str]]]:
    """Return the markup and the lines of gold of each part of the article, in order."""
    places = ["before", *(f"after {number}" for number in range(len(page.lines)))]
    ends = [page.lines[0][0] - 1, *(last for _, last in page.lines)]
    return [
        (page.between(first, second), page.gold[start + 1 : end + 1])
        for (first, second), (start, end) in zip(pairwise(places), pairwise(ends), strict=True)
    ]


def _found(root: html.HtmlElement, gold: Sequence[str]) -> dict[html.HtmlElement, int]:
    """Return the elements whose text is a line of the gold, with the number of that line.

    None of these elements is inside another one. The first line, the title, is left out.
    """
    numbers = {line: number for number, line in reversed(list(enumerate(gold))) if line and number}
    found: dict[html.HtmlElement, int] = {}
    for element in root.iter(*_PARAGRAPHS):
        if len(element) > _MAX_CHILDREN or not found.keys().isdisjoint(element.iterancestors()):
            continue
        if line := numbers.get(_key(element.text_content())):
            found[element] = line
    return found


def _holder(
    root: html.HtmlElement, found: Mapping[html.HtmlElement, int], gold: Sequence[str]
) -> html.HtmlElement:
    """Return the innermost element that contains nearly all of the text that was found."""
    inside: Counter[html.HtmlElement] = Counter()
    for element, line in found.items():
        for outer in element.iterancestors():
            inside[outer] += len(gold[line])
    holder = root
    while inner := [child for child in holder if inside[child] > _NEARLY_ALL * inside[root]]:
        holder = inner[0]
    return holder


def _parts(holder: html.HtmlElement, found: Mapping[html.HtmlElement, int]) -> _Parts:
    """Return the children of the holder that contain lines of the gold, in rising order."""
    parts: _Parts = {}
    last = 0
    for child in holder:
        lines = [found[element] for element in child.iter() if element in found]
        if lines and min(lines) > last:
            parts[child] = (min(lines), last := max(lines))
    return parts


def _mark_title(root: html.HtmlElement, title: str, paragraph: html.HtmlElement) -> None:
    """Mark the title: of the headings with its text, the last one before the first paragraph."""
    chosen = None
    for element in root.iter("h1", "h2", "h3", paragraph.tag):
        if element is paragraph:
            break
        if element.tag != paragraph.tag and _key(element.text_content()) == title:
            chosen = element
    if chosen is not None:
        chosen.addprevious(_mark("title"))
        chosen.addnext(_mark("titled"))


def _in_pieces(page: CorpusPage, text: str, lines: tuple[tuple[int, int], ...]) -> CutPage:
    first, *rest = text.split(f"<!--{_MARK}: ")
    parts = [part.partition("-->") for part in rest]
    places = tuple(name for name, _, _ in parts)
    return CutPage(page, places, (first, *(piece for _, _, piece in parts)), lines)


def _mark(place: str) -> html.HtmlElement:
    return Comment(f"{_MARK}: {place}")


def _key(text: str) -> str:
    return "".join(text.split())
