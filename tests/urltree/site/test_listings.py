"""Listings: they are judged like any page, and then left out of the tree and path statistics.

The row of a listing stores that it is left out.
"""

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
    """Extract the pages of a site in order, and return the rows that are stored."""
    list(extract(site, state=state, **options))  # type: ignore[arg-type]
    return StateDirectory(state, is_member=True).load(DOMAIN).rows


def tree_of(stored: dict[bytes, bytes]) -> Site:
    """Return a site that is rebuilt from these rows."""
    domain = Site(heuristic("evidence"), None)
    domain.rebuild(stored.items())
    return domain


def test_what_a_front_says_of_an_article_does_not_repeat_its_lead(tmp_path: Path) -> None:
    """A summary on a section front does not make the first paragraph of an article boilerplate.

    The front comes before these articles but is not counted, so each first paragraph has c = 1.
    """
    said = {e.url: e for e in extract(SITE)}
    assert said[FRONT[0]].page_kind == "listing"
    counts = tree_of(rows(SITE, tmp_path)).tree.root.counts()
    for name in NAMES[4:12]:
        assert counts[block_hash(lead(name))] == 1
        assert lead(name) in (said[f"{HOST}/{name}"].text or "")


def test_a_front_is_in_the_window_and_nowhere_else(tmp_path: Path) -> None:
    """The front page of a section is a listing: it counts in the window, not in the tree.

    The tree and the path statistics equal those of the site without the front.
    """
    with_front = tree_of(rows(SITE, tmp_path / "a"))
    without = tree_of(rows(ARTICLES, tmp_path / "b"))
    assert len(list(with_front.window)) == len(SITE)
    assert nodes(with_front.tree.root) == nodes(without.tree.root)
    assert with_front.paths.mains == without.paths.mains


def test_a_site_that_was_out_of_memory_says_the_same() -> None:
    """A site that is rebuilt from its rows before each page gives the same results."""
    other = [(url.replace("news", "other"), html) for url, html in SITE]
    pages = [page for pair in zip(SITE, other, strict=True) for page in pair]
    assert list(extract(pages, memory=1)) == list(extract(pages))


@pytest.mark.parametrize("linked", [False, True])
def test_the_text_of_a_listing_is_what_it_says(linked: bool) -> None:
    """The text of a listing contains its summaries, linked or not, but not the site's menu."""
    page = (FRONT[0], front(NAMES[4:12], linked=linked))
    text = [e.text or "" for e in extract([*ARTICLES[:4], page])][-1]
    assert all(lead(name) in text for name in NAMES[4:12])
    assert "About this paper" not in text


def test_a_list_of_links_keeps_them() -> None:
    """A listing that consists of links keeps them, because they are its only content."""
    *_, said = extract([*ARTICLES[:4], (FRONT[0], links(NAMES[4:]))])
    assert said.page_kind == "listing"
    assert (said.text or "").count("Council decides") == len(NAMES[4:])


def test_a_replay_of_a_listing_says_the_same(tmp_path: Path) -> None:
    """A replay of a listing returns its first result, although the site has learned more since."""
    pages = [
        {"url": url, "html": html, "origin": f"raw-html/0/{n}"}
        for n, (url, html) in enumerate(SITE)
    ]
    first = list(extract(pages, state=tmp_path))
    assert list(extract(pages, state=tmp_path)) == first


def test_with_two_passes_a_listing_is_judged_by_the_whole_site() -> None:
    """With two passes a listing is judged by all pages of the site, as if it were counted too.

    Its text leaves out what recurs on each article.
    """
    said = next(iter(extract([FRONT, *ARTICLES], two_pass=True)))
    assert said.page_kind == "listing"
    assert said.support == len(ARTICLES) + 1
    assert "About this paper" not in (said.text or "")


def test_a_site_of_listings_is_learned_all_the_same(tmp_path: Path) -> None:
    """On a site of listings every second page is counted, because a forum has no other pages."""
    names = [[f"{name} {other}" for other in NAMES[:6]] for name in NAMES[:8]]
    site = [(f"{HOST}/{n}", front(each, f"Page {n}")) for n, each in enumerate(names)]
    left_out = [Row.decode(row).left_out for row in rows(site, tmp_path).values()]
    assert left_out == [True, False] * (len(site) // 2)


def test_a_listing_leaves_the_window_as_any_page(tmp_path: Path) -> None:
    """A section front is evicted like any other page when newer documents fill the window."""
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
    """A section front whose new version is an article is counted like any article."""
    again = (FRONT[0], article("zinnia"))
    stored = rows([*SITE, again], tmp_path, revisits="replace")
    assert len(stored) == len(SITE)
    assert not any(Row.decode(row).left_out for row in stored.values())
    assert tree_of(stored).tree.root.counts()[block_hash(lead("zinnia"))] == 1
