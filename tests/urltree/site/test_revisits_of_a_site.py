"""Revisits in the library: the result of each version, and the state after all versions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import urltree
from tests.urltree.builders import nodes
from urltree import Eviction, Extraction, Extractor
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.site.site import Site
from urltree.site.state_directory import StateDirectory

URL = "https://example.org/{}"
WORDS = ("amber", "birch", "cedar", "dogwood", "elm", "fir", "gorse", "hazel")
EVICTION = Eviction(max_documents=6, keep=5)


def page(number: int, text: str, origin: int | None = None, day: int = 1) -> dict[str, Any]:
    """Return the fields of one version of a page."""
    given: dict[str, Any] = {
        "url": URL.format(number),
        "html": f"<p>Imprint<p>{text}",
        "fetched_at": f"2026-01-{day:02}T00:00:00Z",
    }
    return given if origin is None else {**given, "origin": f"t/0/{origin}"}


def outcomes(pages: Iterable[dict[str, Any]], **options: Any) -> list[tuple[str, str | None]]:
    """Return the status of each page, with its text or the step that made it a duplicate."""
    found = urltree.extract(pages, revisits="replace", **options)
    return [(said.status, said.text or said.duplicate_step) for said in found]


def test_a_page_that_has_changed_comes_out_again_under_its_id() -> None:
    """A changed page, such as a live blog, is extracted again under its id.

    An unchanged page is a duplicate of the version before it.
    """
    versions = [page(1, "amber"), page(1, "birch"), page(1, "birch"), page(1, "amber")]
    first, second, same, back = urltree.extract(versions, revisits="replace")
    assert [said.text for said in (first, second, same, back)] == [
        "Imprint\namber",
        "Imprint\nbirch",
        None,
        "Imprint\namber",
    ]
    assert first.id == second.id == back.id
    assert (same.duplicate_of, same.duplicate_step) == (second.origin, "request-url")
    assert len({said.origin for said in (first, second, back)}) == 3


def test_revisits_are_dropped_unless_asked_for() -> None:
    """By default a revisit is a duplicate, as in the paper."""
    statuses = [said.status for said in urltree.extract([page(1, "amber"), page(1, "birch")])]
    assert statuses == ["ok", "duplicate"]


def test_an_unknown_way_is_refused() -> None:
    """An unknown value of `revisits` raises ValueError before the first page is read."""
    with pytest.raises(ValueError, match="drop or replace, is 'keep'"):
        Extractor(revisits="keep")  # type: ignore[arg-type]


def test_an_earlier_version_that_comes_again_brings_nothing_back() -> None:
    """If all pages are delivered again, the earlier version of a page is a superseded duplicate.

    The other pages are replays, and return their first results.
    """
    versions = [page(1, "amber", 0), page(2, "elm", 1), page(1, "birch", 2)]
    with Extractor(revisits="replace") as extractor:
        first = list(map(extractor.extract, versions))
        again = list(map(extractor.extract, versions))
    assert [said.status for said in again] == ["duplicate", "ok", "ok"]
    assert (again[0].duplicate_of, again[0].duplicate_step) == ("t/0/2", "superseded")
    assert again[1:] == first[1:]


def test_with_two_passes_the_last_version_has_the_text() -> None:
    """With two passes only the last version of a page gets a text; the others are duplicates.

    All pages are judged at the end, when one document is stored under each id.
    """
    versions = [page(1, "amber"), page(2, "elm"), page(1, "birch"), page(1, "birch")]
    assert outcomes(versions, two_pass=True, heuristic="strict") == [
        ("duplicate", "superseded"),
        ("ok", "elm"),
        ("ok", "birch"),
        ("duplicate", "request-url"),
    ]


def test_a_version_counts_in_the_place_of_the_one_before() -> None:
    """The blocks of a new version replace the counts of the former version.

    Text that only the former version shared with another page is unique again.
    """
    versions = [page(1, "amber"), page(1, "birch"), page(2, "amber"), page(3, "birch")]
    found = urltree.extract(versions, revisits="replace", heuristic="strict-at-domain")
    assert [said.text for said in found] == ["Imprint\namber", "Imprint\nbirch", "amber", ""]


VERSIONS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(WORDS)), max_size=28)
EVICTIONS = st.sampled_from([None, EVICTION, Eviction(max_documents=9, keep=5, max_age=1)])


def dated(versions: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return versions of pages of one site, with dates one day apart."""
    return [page(n, text, at, at + 1) for at, (n, text) in enumerate(versions)]


@given(versions=VERSIONS, eviction=EVICTIONS)
@settings(max_examples=60, deadline=None)
def test_what_is_learned_is_what_the_last_versions_alone_would_teach(
    versions: list[tuple[int, str]], eviction: Eviction | None
) -> None:
    """All versions of a site leave the same tree as the last version of each page alone.

    A version is a duplicate exactly if its text equals that of the version before.
    """
    pages, expected = dated(versions), []
    last: dict[int, str] = {}
    for number, text in versions:
        expected.append("duplicate" if last.get(number) == text else "ok")
        last[number] = text
    changed = [given for given, status in zip(pages, expected, strict=True) if status == "ok"]
    latest = {given["url"]: given for given in changed}
    alone = sorted(latest.values(), key=lambda given: int(given["origin"].split("/")[-1]))
    with TemporaryDirectory() as all_of_them, TemporaryDirectory() as only_the_last:
        options: dict[str, Any] = {"eviction": eviction, "revisits": "replace"}
        found = list(urltree.extract(pages, state=all_of_them, **options))
        list(urltree.extract(alone, state=only_the_last, **options))
        assert tree(all_of_them, eviction) == tree(only_the_last, eviction)
    assert [said.status for said in found] == expected


def tree(state: str, eviction: Eviction | None) -> object:
    """Return the nodes of example.org in a state directory, and the ids of its rows."""
    opened = StateDirectory(state)
    try:
        stored = opened.load("example.org")
    finally:
        opened.close()
    learned = Site(heuristic(DEFAULT), eviction)
    learned.rebuild(stored.rows.items())
    return nodes(learned.tree.root), sorted(stored.rows)


@given(versions=VERSIONS, cuts=st.sets(st.integers(0, 27), max_size=3))
@settings(max_examples=40, deadline=None)
def test_spills_and_reloads_change_nothing(versions: list[tuple[int, str]], cuts: set[int]) -> None:
    """The results stay the same if sites are saved and loaded at any point.

    The horizon that is rebuilt from the stored records equals the one in memory.
    """
    options: dict[str, Any] = {"eviction": EVICTION, "revisits": "replace"}
    pages = dated(versions)
    undated = [{k: v for k, v in given.items() if k != "fetched_at"} for given in pages[::3]]
    mixed = [*pages, *({**given, "origin": f"u/0/{n}"} for n, given in enumerate(undated))]
    in_memory = list(urltree.extract(mixed, **options))
    with TemporaryDirectory() as state:
        bounds = sorted({0, len(mixed), *(cut for cut in cuts if cut < len(mixed))})
        reloaded: list[Extraction] = []
        for begin, end in pairwise(bounds):
            reloaded += urltree.extract(mixed[begin:end], state=state, memory=0, **options)
    assert reloaded == in_memory


@given(versions=VERSIONS, killed=st.integers(0, 27))
@settings(max_examples=40, deadline=None)
def test_a_replay_from_any_point_ends_where_it_ended(
    versions: list[tuple[int, str]], killed: int
) -> None:
    """In a replay from any point, the last version of each page returns its first result.

    Earlier versions are duplicates of the last one.
    """
    pages = dated(versions)
    with Extractor(revisits="replace", eviction=None) as extractor:
        first = [extractor.extract(given) for given in pages]
        again = [extractor.extract(given) for given in pages[killed:]]
    latest = {said.id: said for said in first if said.status == "ok"}
    for before, said in zip(first[killed:], again, strict=True):
        if said.status == "ok":
            assert said == latest[said.id] == before
        else:
            assert said.duplicate_of == latest[said.id].origin
