"""What evidence learns of a site is in its rows: read again in any order, they say the same.

Hypothesis lets pages come, come again, come back changed and leave the window. A domain that was
never out of memory and one that is rebuilt from rows at any time say the same of every page.
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
    """A page as it comes.

    Attributes:
        number: of the page; text: of which words its paragraphs are.
        template: that its site has by then, or a listing.
        day: of document time, None where it has none.
        is_rebuilt: whether its domain was out of memory.
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
    """A page with a menu, a teaser that returns, comments; or a list of links."""
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
    """A domain beside its rows, treated as the job treats it."""

    def __init__(self, eviction: Eviction | None, name: str = DEFAULT) -> None:
        self.eviction, self.name = eviction, name
        self.rows: dict[bytes, bytes] = {}
        self.domain = self._empty()

    def _empty(self) -> Site:
        return Site(heuristic(self.name), self.eviction, keep_counts=True)

    def reload(self, seed: int = 0) -> None:
        """Read all rows again, in another order."""
        self.domain = self._empty()
        assert (
            self.domain.rebuild(random.Random(seed).sample([*self.rows.items()], len(self.rows)))
            == []
        )

    def learn(self, document: Document) -> Learned:
        """Learn a document and do what the lesson says."""
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
    """The same lessons to the byte, the same sums, and those are what the rows add up to."""
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
    """Whatever was learned since, and nothing is counted twice."""
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
    """Memory is what it was at the start."""
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
    """No kinds, no kind of page, no paths: neither a byte nor a flag."""
    site = StoredSite(None, name)
    for number in range(6):
        site.learn(
            page(Visit(number, number, "old", None, is_rebuilt=False), f"raw-html/0/{number}")
        )
    for stored in site.rows.values():
        row = Row.decode(stored)
        assert (row.verdict.kinds, row.verdict.page_kind, row.paths) == (None, None, b"")
        assert stored[3] == 1  # counts alone
    assert sums(site.domain.paths) == ({}, {}, {})


def test_paths_outlive_a_change_of_the_heuristic() -> None:
    """A domain that goes over to strict and back has lost no past but that of its strict pages."""
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
