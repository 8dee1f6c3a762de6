"""Kinds of pages: what leads to articles is told from what is read."""

from __future__ import annotations

import pytest

from tests.urltree.listings import HOST, NAMES, article, front, headline, links, teasers
from urltree import extract

SELF_LINKED = "<h2><a href=#h>Why the council came to think of it</a></h2><p>{}</p>"


def kind(html: str, before: int = 4, heuristic: str = "evidence") -> str | None:
    """What is said of a page that comes after so many articles of its site."""
    site = [(f"{HOST}/before/{name}", article(name)) for name in NAMES[-before:] if before]
    return [e.page_kind for e in extract([*site, (f"{HOST}/x", html)], heuristic=heuristic)][-1]


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("linked", [False, True])
def test_a_section_front_is_a_listing(before: int, linked: bool) -> None:
    """Its headlines link, and between two of them stands a standfirst; on a first page, too."""
    assert kind(front(NAMES[:8], linked=linked), before) == "listing"


def test_a_list_of_links_is_a_listing_on_a_site_that_is_known() -> None:
    """On a first page it may be an article's menu: which blocks the site repeats is not known."""
    assert kind(links(NAMES[:10])) == "listing"
    assert kind(links(NAMES[:10]), before=0) == "unknown"


@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("number", [1, 10])
def test_an_article_above_many_teasers_is_an_article(number: int, before: int) -> None:
    """Short as it is: they stand outside of its main element."""
    names = [f"{name} {other}" for other in NAMES[:number] for name in NAMES[1:6]]
    assert kind(article("amber", below=teasers(names, linked=True)), before) == "article"


@pytest.mark.parametrize(
    "paragraph",
    ["<p>{}</p>", "<div><div>{}</div></div>", SELF_LINKED],
    ids=["plain", "elements-of-their-own", "headings-that-link-to-themselves"],
)
def test_the_markup_of_paragraphs_makes_no_listing(paragraph: str) -> None:
    """Neither an element for each paragraph nor headings with anchors, and teasers besides."""
    below = teasers(NAMES[1:5], linked=True)
    assert kind(article("amber", below, paragraph)) == "article"


def test_a_short_note_is_unknown() -> None:
    """Too few words to tell."""
    assert kind(f"<title>x</title><div><h1>{headline('amber')}</h1><p>It is gone.</p></div>") == (
        "unknown"
    )


def test_the_heuristics_of_the_paper_know_no_kinds() -> None:
    """They stay as in the paper."""
    assert kind(front(NAMES[:8]), heuristic="strict") is None
