"""Rows contain everything that the heuristic `evidence` learns about a site.

Hypothesis generates pages that arrive, change and leave the window. One site always stays in
memory; another one is rebuilt from its rows at any time, in any order. Both give the same results.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.urltree.builders import decoded, nodes, of_html
from tests.urltree.path_recount import of_rows, sums
from urltree.document import Document
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.site.row import Row
from urltree.site.site import Learned, Relation, Site
from urltree.tree.window import DAY, Eviction

EVICTIONS = (None, Eviction(max_documents=8, keep=5), Eviction(max_age=DAY, keep=5))
WORDS = (
    *("amber", "birch", "cedar", "dogwood", "elm", "fir"),
    *("gorse", "hazel", "iris", "juniper", "kelp", "larch"),
)
MENU = "<ul class=top><li><a href=/>Home</a><li><a href=/news>News of the day</a></ul>"


class Visit(NamedTuple):
    r"""One arrival of a page.

    Attributes:
        number: number of the page.
        text: seed that selects the words of the page.
        template: template of the page: the site's old or new one, or a listing.
        day: day of the document time; None if the page has no date.
        is_rebuilt: whether the site is rebuilt from its rows before the page arrives.
    """

    number: int
    text: int
    template: str
    day: int | None
    is_rebuilt: bool


visits = st.builds(
    Visit,
    st.integers(0, 14),
    st.integers(0, 9),
    st.sampled_from(("old", "new", "listing")),
    st.none() | st.integers(1, 9),
    st.booleans(),
)


def page(visit: Visit, origin: str) -> Document:
    """Return an article with a menu and a recurring teaser, or a listing that consists of links.

    The new template of articles also has a comment.
    """
    chosen = random.Random(visit.text).choices(WORDS, k=24)
    said = " ".join(chosen[:12]), " ".join(chosen[12:])
    teaser = f"<div class=box><p>Read on: {WORDS[visit.number % 3]} and all the rest of it</div>"
    body = {
        "old": f"<div class=text><h1>{said[0]}</h1><p>{said[0]}<p>{said[1]}</div>{teaser}",
        "new": f"<main>{teaser}<h1>{said[0]}</h1><p>{said[1]}</main><div class=comments><p>Me too",
        "listing": "".join(f"<li><a href=/{word}>{word} {said[0]}</a>" for word in chosen),
    }[visit.template]
    return of_html(
        visit.number,
        f"<html><head><title>{said[0]} | Site</title><body>{MENU}{body}",
        ("", "news/1", "news/2")[visit.number % 3],
        origin=origin,
        published=None if visit.day is None else f"2026-05-0{visit.day}T00:00:00Z",
    )


class StoredSite:
    """A site in memory and its stored rows, which are written and deleted as in the job."""

    def __init__(self, eviction: Eviction | None, name: str = DEFAULT) -> None:
        self.eviction, self.name = eviction, name
        self.rows: dict[bytes, bytes] = {}
        self.domain = self._empty()

    def _empty(self) -> Site:
        return Site(heuristic(self.name), self.eviction, keep_counts=True)

    def reload(self, seed: int = 0) -> None:
        """Rebuild the site from all rows, in an order that depends on the seed."""
        self.domain = self._empty()
        assert (
            self.domain.rebuild(random.Random(seed).sample([*self.rows.items()], len(self.rows)))
            == []
        )

    def learn(self, document: Document) -> Learned:
        """Learn a document; store its row and delete the evicted rows."""
        lesson = self.domain.learn(document, decoded(self.rows.get(document.key_bytes)))
        self.rows[document.key_bytes] = lesson.row
        for document_id in lesson.evicted:
            del self.rows[document_id]
        return lesson


@given(st.lists(visits, max_size=30), st.sampled_from(EVICTIONS))
@settings(max_examples=60, deadline=None)
def test_a_domain_made_from_rows_says_what_one_in_memory_says(
    came: list[Visit], eviction: Eviction | None
) -> None:
    """A rebuilt site returns the same bytes and path statistics as a site that stayed in memory.

    The statistics are the sums of the contributions in the rows.
    """
    whole, reloaded = StoredSite(eviction), StoredSite(eviction)
    for place, visit in enumerate(came):
        if visit.is_rebuilt:
            reloaded.reload(place)
        document = page(visit, f"raw-html/0/{place}")
        assert whole.learn(document) == reloaded.learn(document)
        assert nodes(whole.domain.tree.root) == nodes(reloaded.domain.tree.root)
        recount = of_rows(Row.decode(row).paths for row in whole.rows.values())
        assert sums(whole.domain.paths) == sums(reloaded.domain.paths) == recount


@given(st.lists(visits, min_size=1, max_size=30), st.data())
@settings(max_examples=40, deadline=None)
def test_a_replay_says_the_same_kinds_to_the_byte(came: list[Visit], data: st.DataObject) -> None:
    """A replay returns its stored row and verdict, whatever was learned since.

    The path statistics do not count the page twice.
    """
    site = StoredSite(None)
    documents = [page(visit, f"raw-html/0/{place}") for place, visit in enumerate(came)]
    said = {document.id: (document, site.learn(document)) for document in documents}
    document, first = said[data.draw(st.sampled_from(sorted(said)))]
    before = sums(site.domain.paths)
    if data.draw(st.booleans()):
        site.reload()
    again = site.learn(document)
    assert (again.relation, again.row) == (Relation.REPLAY, first.row)
    assert again.verdict == first.verdict
    assert again.verdict.kinds is not None
    assert sums(site.domain.paths) == before


@given(st.lists(visits, max_size=20))
@settings(max_examples=30, deadline=None)
def test_what_is_removed_leaves_nothing_of_its_paths(came: list[Visit]) -> None:
    """When all documents are removed, path statistics are empty and memory is as for a new site."""
    site = StoredSite(None)
    empty = site.domain.memory
    for place, visit in enumerate(came):
        site.learn(page(visit, f"raw-html/0/{place}"))
    for document_id in site.rows:
        site.domain.remove(document_id)
    assert sums(site.domain.paths) == ({}, {}, {})
    assert site.domain.memory == empty


@pytest.mark.parametrize("name", ["strict", "strict-at-domain"])
def test_rows_of_the_papers_heuristics_hold_no_more_than_before(name: str) -> None:
    """Rows of the paper's heuristics store no kinds, no kind of page and no paths.

    Not even a flag is set for them.
    """
    site = StoredSite(None, name)
    for number in range(6):
        site.learn(
            page(Visit(number, number, "old", None, is_rebuilt=False), f"raw-html/0/{number}")
        )
    for stored in site.rows.values():
        row = Row.decode(stored)
        assert (row.verdict.kinds, row.verdict.page_kind, row.paths) == (None, None, b"")
        assert stored[3] == 1  # the only flag is that of counts
    assert sums(site.domain.paths) == ({}, {}, {})


def test_paths_outlive_a_change_of_the_heuristic() -> None:
    """Path statistics survive a change to `strict` and back.

    The page that was learned under `strict` adds nothing to them.
    """
    site = StoredSite(None)
    for number in range(4):
        site.learn(
            page(Visit(number, number, "old", None, is_rebuilt=False), f"raw-html/0/{number}")
        )
    before = sums(site.domain.paths)
    site.name = "strict"
    site.reload()
    site.learn(page(Visit(9, 9, "old", None, is_rebuilt=False), "raw-html/0/9"))
    site.name = DEFAULT
    site.reload()
    assert sums(site.domain.paths) == before
