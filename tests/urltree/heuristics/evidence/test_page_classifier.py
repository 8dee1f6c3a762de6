"""The page classifier: it distinguishes listings from articles."""

from __future__ import annotations

import pytest

from tests.urltree.listings import HOST, NAMES, article, front, headline, links, teasers
from urltree import extract

SELF_LINKED = "<h2><a href=#h>Why the council came to think of it</a></h2><p>{}</p>"


def kind(html: str, before: int = 4, heuristic: str = "evidence") -> str | None:
    """Return the kind of a page that comes after `before` articles of its site."""
    site = [(f"{HOST}/before/{name}", article(name)) for name in NAMES[-before:] if before]
    return [e.page_kind for e in extract([*site, (f"{HOST}/x", html)], heuristic=heuristic)][-1]


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("linked", [False, True])
def test_a_section_front_is_a_listing(before: int, linked: bool) -> None:
    """A section front is a listing, even as the first page of its site.

    Its headlines are links, with summaries between them.
    """
    assert kind(front(NAMES[:8], linked=linked), before) == "listing"


def test_a_list_of_links_is_a_listing_on_a_site_that_is_known() -> None:
    """A list of links is a listing, except on the first page of a site.

    On the first page the links may be the menu of an article: no other page shows repetition.
    """
    assert kind(links(NAMES[:10])) == "listing"
    assert kind(links(NAMES[:10]), before=0) == "unknown"


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("number", [1, 10])
def test_an_article_above_many_teasers_is_an_article(number: int, before: int) -> None:
    """An article above many teasers is an article, because they are outside its main element."""
    names = [f"{name} {other}" for other in NAMES[:number] for name in NAMES[1:6]]
    assert kind(article("amber", below=teasers(names, linked=True)), before) == "article"


@pytest.mark.parametrize(
    "paragraph",
    ["<p>{}</p>", "<div><div>{}</div></div>", SELF_LINKED],
    ids=["plain", "elements-of-their-own", "headings-that-link-to-themselves"],
)
def test_the_markup_of_paragraphs_makes_no_listing(paragraph: str) -> None:
    """An article is no listing if each paragraph has its own element, or if headings are links."""
    below = teasers(NAMES[1:5], linked=True)
    assert kind(article("amber", below, paragraph)) == "article"


def test_a_short_note_is_unknown() -> None:
    """The kind of a page with very few words is unknown."""
    assert kind(f"<title>x</title><div><h1>{headline('amber')}</h1><p>It is gone.</p></div>") == (
        "unknown"
    )


def test_the_heuristics_of_the_paper_know_no_kinds() -> None:
    """The heuristics of the paper return no kind of page, because the paper defines none."""
    assert kind(front(NAMES[:8]), heuristic="strict") is None
