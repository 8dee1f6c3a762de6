"""Generators that insert other articles into pages: teasers, overview pages, infinite scroll."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from urllib.parse import urljoin

from bench.hard_streams.cut_page import CutPage, cut_page
from bench.hard_streams.insertions import StreamPages, linked, on_each, random_of, recent
from bench.hard_streams.naming import Naming
from urltree_evaluation.corpus import CorpusPage

_TEASERS = 4
_FRONT_EVERY = 10
_AROUND = 10  # number of older articles on an overview page, and of articles fetched after it
_PAGE_TITLE = re.compile(r"(<title\b[^>]*>).*?(</title)", re.IGNORECASE | re.DOTALL)


def teasers(pages: StreamPages, naming: Naming, *, is_linked: bool) -> list[CorpusPage]:
    """Add teasers below each article: title and first paragraph of 4 of the last 8 articles.

    Args:
        pages: pages of a site.
        naming: function that makes the class names of the list and of the teasers.
        is_linked: whether each teaser is a link as a whole; otherwise teasers have no link.
    """

    def change(number: int, article: CutPage) -> CorpusPage:
        known = recent(pages, number)
        random = random_of(article.page, "teasers")
        chosen = random.sample(known, min(_TEASERS, len(known)))
        listed = f"<div {naming('related-posts')}>{_teasers(chosen, naming, is_linked)}</div>"
        return replace(article.page, html=article.put({"outside": listed}))

    return on_each(pages, change)


def fronts(pages: StreamPages, naming: Naming, *, is_linked: bool) -> list[CorpusPage]:
    """Add an overview page ("front") after every tenth page, with teasers of 20 articles.

    A teaser has the title and the first paragraph of an article. Half of the articles are fetched
    after the overview page, as from a feed. Their first paragraphs have occurred on the overview
    page, but must be kept. The overview page itself is learned and not scored.

    Args:
        pages: pages of a site.
        naming: function that makes the class names of the list and of the teasers.
        is_linked: whether each teaser is a link as a whole; otherwise only its title is a link.
    """
    generated = []
    for number, page in enumerate(pages):
        article = cut_page(page)
        generated.append(page if article else replace(page, gold=None))
        if article and number % _FRONT_EVERY == _FRONT_EVERY - 1:
            around = recent(pages, number + 1 + _AROUND, 2 * _AROUND)
            front_number = number // _FRONT_EVERY + 1
            generated.append(_front(article, front_number, around, naming, is_linked=is_linked))
    return generated


def infinite_scroll(pages: StreamPages, naming: Naming, *, newer: bool) -> list[CorpusPage]:
    """Add a whole neighbouring article below each article, in the same template.

    The added article also has its own page.

    Args:
        pages: pages of a site.
        naming: function that makes the class name of the added element.
        newer: whether the next article is added; otherwise the previous article is added.
    """

    def change(number: int, article: CutPage) -> CorpusPage:
        other = cut_page(pages[min(max(number + (1 if newer else -1), 0), len(pages) - 1)])
        if other is None or other is article:
            return article.page
        appended = f"<div {naming('next-article')}>{other.article()}</div>"
        return replace(article.page, html=article.put({"outside": appended}))

    return on_each(pages, change)


def retitled(html: str, title: str) -> str:
    """Return the HTML of a page with another text in its <title>."""
    return _PAGE_TITLE.sub(lambda match: match[1] + escape(title) + match[2], html, count=1)


def _front(
    article: CutPage, number: int, around: Sequence[CutPage], naming: Naming, *, is_linked: bool
) -> CorpusPage:
    title = f"News, page {number}"
    listed = f"<div {naming('news-list')}>{_teasers(around, naming, is_linked, title=True)}</div>"
    added = {"before": listed}
    html = article.put(added, cut=("before", "inside"))
    if "title" in article.places:
        html = html.replace(article.between("title", "titled"), f"<h1>{title}</h1>", 1)
    return replace(
        article.page,
        id=f"{article.page.id}~front",
        url=urljoin(article.page.url, f"/news/page/{number}/"),
        html=retitled(html, title),
        title=title,
        gold=None,
    )


def _teasers(
    articles: Sequence[CutPage], naming: Naming, is_linked: bool, *, title: bool = False
) -> str:
    """Return the markup of teasers, with titles in headings.

    If teasers are not links, `title` makes their titles links.
    """
    found = []
    for article in articles:
        name, lead = escape(article.title), escape(article.standfirst)
        heading = linked(article, name) if title and not is_linked else name
        inner = f"<h3>{heading}</h3><p>{lead}</p>"
        found.append(
            f"<div {naming('teaser')}>{linked(article, inner) if is_linked else inner}</div>"
        )
    return "".join(found)
