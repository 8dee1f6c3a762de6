"""Kinds of pages: listings are distinguished from articles."""

from __future__ import annotations

import pytest

from tests.urltree.listings import HOST, NAMES, article, front, headline, links, teasers
from urltree import extract

SELF_LINKED = "<h2><a href=#h>Why the council came to think of it</a></h2><p>{}</p>"


def kind(html: str, before: int = 4, heuristic: str = "evidence") -> str | None:
    """Return the kind of a page that comes after this many articles of its site."""
    site = [(f"{HOST}/before/{name}", article(name)) for name in NAMES[-before:] if before]
    return [e.page_kind for e in extract([*site, (f"{HOST}/x", html)], heuristic=heuristic)][-1]


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("linked", [False, True])
def test_a_section_front_is_a_listing(before: int, linked: bool) -> None:
    """Its headlines are links with standfirsts between them; on the first page of a site too."""
    assert kind(front(NAMES[:8], linked=linked), before) == "listing"


def test_a_list_of_links_is_a_listing_on_a_site_that_is_known() -> None:
    """On a first page it may be an article's menu: repeated blocks are not known yet."""
    assert kind(links(NAMES[:10])) == "listing"
    assert kind(links(NAMES[:10]), before=0) == "unknown"


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("number", [1, 10])
def test_an_article_above_many_teasers_is_an_article(number: int, before: int) -> None:
    """Even a short one: the teasers are outside its main element."""
    names = [f"{name} {other}" for other in NAMES[:number] for name in NAMES[1:6]]
    assert kind(article("amber", below=teasers(names, linked=True)), before) == "article"


@pytest.mark.parametrize(
    "paragraph",
    ["<p>{}</p>", "<div><div>{}</div></div>", SELF_LINKED],
    ids=["plain", "elements-of-their-own", "headings-that-link-to-themselves"],
)
def test_the_markup_of_paragraphs_makes_no_listing(paragraph: str) -> None:
    """One element for each paragraph, or headings with anchors, are no listing."""
    below = teasers(NAMES[1:5], linked=True)
    assert kind(article("amber", below, paragraph)) == "article"


def test_a_short_note_is_unknown() -> None:
    """It has too few words to decide."""
    assert kind(f"<title>x</title><div><h1>{headline('amber')}</h1><p>It is gone.</p></div>") == (
        "unknown"
    )


def test_the_heuristics_of_the_paper_know_no_kinds() -> None:
    """They are unchanged from the paper."""
    assert kind(front(NAMES[:8]), heuristic="strict") is None
