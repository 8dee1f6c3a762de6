"""Listings: judged like any page, then left out of the tree; their rows say so for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.urltree.builders import nodes
from tests.urltree.listings import HOST, NAMES, article, front, lead, links
from urltree import Eviction, extract
from urltree.heuristics.registry import heuristic
from urltree.html.blocks import block_hash
from urltree.site.row import Row
from urltree.site.site import Site
from urltree.site.state_directory import StateDirectory

DOMAIN = "news.example"
ARTICLES = [(f"{HOST}/{name}", article(name)) for name in NAMES]
FRONT = (f"{HOST}/front", front(NAMES[4:12]))
SITE = [*ARTICLES[:4], FRONT, *ARTICLES[4:]]


def rows(site: list[tuple[str, str]], state: Path, **options: object) -> dict[bytes, bytes]:
    """What is stored of a site, in the order in which it was learned."""
    list(extract(site, state=state, **options))  # type: ignore[arg-type]
    return StateDirectory(state, is_member=True).load(DOMAIN).rows


def tree_of(stored: dict[bytes, bytes]) -> Site:
    """The domain that is made of rows."""
    domain = Site(heuristic("evidence"), None)
    domain.rebuild(stored.items())
    return domain


def test_what_a_front_says_of_an_article_does_not_repeat_its_lead(tmp_path: Path) -> None:
    """The front came first; each lead counts once, and is in the article's text."""
    said = {e.url: e for e in extract(SITE)}
    assert said[FRONT[0]].page_kind == "listing"
    counts = tree_of(rows(SITE, tmp_path)).tree.root.counts()
    for name in NAMES[4:12]:
        assert counts[block_hash(lead(name))] == 1
        assert lead(name) in (said[f"{HOST}/{name}"].text or "")


def test_a_front_is_in_the_window_and_nowhere_else(tmp_path: Path) -> None:
    """Tree and paths are those of the site without it."""
    with_front = tree_of(rows(SITE, tmp_path / "a"))
    without = tree_of(rows(ARTICLES, tmp_path / "b"))
    assert len(list(with_front.window)) == len(SITE)
    assert nodes(with_front.tree.root) == nodes(without.tree.root)
    assert with_front.paths.mains == without.paths.mains


def test_a_site_that_was_out_of_memory_says_the_same() -> None:
    """It is made again from its rows before each of its pages."""
    other = [(url.replace("news", "other"), html) for url, html in SITE]
    pages = [page for pair in zip(SITE, other, strict=True) for page in pair]
    assert list(extract(pages, memory=1)) == list(extract(pages))


@pytest.mark.parametrize("linked", [False, True])
def test_the_text_of_a_listing_is_what_it_says(linked: bool) -> None:
    """Never an empty guess: its standfirsts, without the site's menu."""
    page = (FRONT[0], front(NAMES[4:12], linked=linked))
    text = [e.text or "" for e in extract([*ARTICLES[:4], page])][-1]
    assert all(lead(name) in text for name in NAMES[4:12])
    assert "About this paper" not in text


def test_a_list_of_links_keeps_them() -> None:
    """They are all that it says."""
    *_, said = extract([*ARTICLES[:4], (FRONT[0], links(NAMES[4:]))])
    assert said.page_kind == "listing"
    assert (said.text or "").count("Council decides") == len(NAMES[4:])


def test_a_replay_of_a_listing_says_the_same(tmp_path: Path) -> None:
    """Though the site knows more by now."""
    pages = [
        {"url": url, "html": html, "origin": f"raw-html/0/{n}"}
        for n, (url, html) in enumerate(SITE)
    ]
    first = list(extract(pages, state=tmp_path))
    assert list(extract(pages, state=tmp_path)) == first


def test_with_two_passes_a_listing_is_judged_by_the_whole_site() -> None:
    """As if it counted: what recurs on each article is no part of it."""
    said = next(iter(extract([FRONT, *ARTICLES], two_pass=True)))
    assert said.page_kind == "listing"
    assert said.support == len(ARTICLES) + 1
    assert "About this paper" not in (said.text or "")


def test_a_site_of_listings_is_learned_all_the_same(tmp_path: Path) -> None:
    """Every second is left out: a forum has no other pages."""
    names = [[f"{name} {other}" for other in NAMES[:6]] for name in NAMES[:8]]
    site = [(f"{HOST}/{n}", front(each, f"Page {n}")) for n, each in enumerate(names)]
    left_out = [Row.decode(row).left_out for row in rows(site, tmp_path).values()]
    assert left_out == [True, False] * (len(site) // 2)


def test_a_listing_leaves_the_window_as_any_page(tmp_path: Path) -> None:
    """The oldest documents are evicted, and the front is one of them."""
    dated = [
        {"url": url, "html": html, "published": f"2026-01-{day + 1:02}T00:00:00Z"}
        for day, (url, html) in enumerate(SITE)
    ]
    eviction = Eviction(max_documents=5, keep=5)
    stored = rows(dated, tmp_path, eviction=eviction)  # type: ignore[arg-type]
    assert len(stored) == 5
    assert len(tree_of(stored).tree) == 5
    assert not any(Row.decode(row).left_out for row in stored.values())


def test_a_new_version_of_a_listing_takes_its_place(tmp_path: Path) -> None:
    """Once it was a front, now it is an article: then it counts."""
    again = (FRONT[0], article("zinnia"))
    stored = rows([*SITE, again], tmp_path, revisits="replace")
    assert len(stored) == len(SITE)
    assert not any(Row.decode(row).left_out for row in stored.values())
    assert tree_of(stored).tree.root.counts()[block_hash(lead("zinnia"))] == 1
