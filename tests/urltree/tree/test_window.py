"""The window: only (time, id) decides which documents of a site count."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.tree.window import DAY, Eviction, Window

entries = st.sets(st.tuples(st.integers(-9, 9), st.binary(min_size=1, max_size=2)), max_size=40)
evictions = st.builds(
    lambda keep, more, age: Eviction(keep + more, age, keep),
    st.integers(5, 12),
    st.integers(0, 12),
    st.integers(0, 9),
)


def ids(numbers: range) -> list[bytes]:
    """Return the ids of documents with these numbers."""
    return [number.to_bytes(2) for number in numbers]


def dated(days: list[int]) -> list[tuple[int, bytes]]:
    """Return (time, id) of documents on these days, numbered in their order."""
    return [(day * DAY, number.to_bytes(2)) for number, day in enumerate(days)]


def test_the_paper_keeps_10_000_documents_and_14_days_but_always_100() -> None:
    """The default eviction has the limits of the paper (section 6)."""
    assert Eviction() == Eviction(max_documents=10_000, max_age=14 * DAY, keep=100)


def test_beyond_the_most_documents_the_oldest_go() -> None:
    """Beyond `max_documents` the oldest documents are evicted, even if they are not too old."""
    window = Window(Eviction(max_documents=20, keep=5), dated([0] * 23))
    assert window.evict() == ids(range(3))
    assert len(window) == 20


def test_documents_that_are_too_old_go() -> None:
    """Documents older than `max_age` are evicted; a document of exactly that age is not."""
    window = Window(Eviction(max_age=14 * DAY, keep=5), dated([5, 6, 20, 20, 20, 20, 20]))
    assert window.evict() == ids(range(1))


def test_the_most_recent_always_stay() -> None:
    """The newest `keep` documents are never evicted, even if they are too old."""
    window = Window(Eviction(max_age=DAY, keep=6), dated([0, 0, 0, 99, 99, 99, 99, 99]))
    assert window.evict() == ids(range(2))


@pytest.mark.parametrize(("from_the_future", "evicted"), [(4, 0), (5, 20)])
def test_four_pages_from_the_future_evict_nothing(from_the_future: int, evicted: int) -> None:
    """Four pages with a date in the future evict nothing, but a fifth evicts older documents.

    Age is measured from the fifth-newest document.
    """
    window = Window(Eviction(keep=5), dated([1] * 20 + [3_000_000] * from_the_future))
    assert len(window.evict()) == evicted


def test_without_eviction_all_stay() -> None:
    """Without eviction all documents stay, here from year 1 to year 9999."""
    window = Window(None, dated([-719_162, 2_932_896, *[0] * 200]))
    assert window.evict() == []
    assert len(window) == 202


def test_the_newest_time_of_an_empty_window_is_0() -> None:
    """The newest time of an empty window is 0, so a first page without a date is dated 1970."""
    window = Window(None)
    assert window.newest_time() == 0
    window.add(-DAY, b"a")
    assert window.newest_time() == -DAY


def test_what_is_not_in_the_window_cannot_be_removed() -> None:
    """Removing an unknown id, or a known id with another time, raises KeyError."""
    window = Window(None, [(1, b"a")])
    for time, document_id in ((1, b"b"), (2, b"a")):
        with pytest.raises(KeyError):
            window.remove(time, document_id)
    window.remove(1, b"a")
    assert list(window) == []


@given(entries, evictions)
def test_the_window_is_that_of_its_definition(
    documents: set[tuple[int, bytes]], eviction: Eviction
) -> None:
    """The window equals a simple model that applies the limits to one document after another."""
    window = Window(eviction, documents)
    evicted = window.evict()
    newest_first = sorted(documents, reverse=True)
    kept = [
        (time, document_id)
        for rank, (time, document_id) in enumerate(newest_first)
        if rank < eviction.keep
        or (rank < eviction.max_documents and time >= newest_first[4][0] - eviction.max_age)
    ]
    assert list(window) == kept[::-1]
    assert evicted == [document_id for _, document_id in newest_first[len(kept) :][::-1]]


@given(entries, evictions, st.randoms(use_true_random=False))
def test_the_window_forgets_nothing_twice(
    documents: set[tuple[int, bytes]], eviction: Eviction, chance: random.Random
) -> None:
    """The window is the same if evicted rows are left over by a crash and evicted again."""
    window = Window(eviction, documents)
    window.evict()
    assert window.evict() == []
    left_behind = [entry for entry in documents if entry in window or chance.random() < 0.5]
    again = Window(eviction, left_behind)
    again.evict()
    assert list(again) == list(window)


@pytest.mark.parametrize(
    "wrong", [{"keep": 4}, {"keep": 0}, {"max_documents": 99}, {"max_age": -1}], ids=str
)
def test_an_eviction_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    """A `keep` below 5 or above `max_documents`, and a negative `max_age`, raise ValueError."""
    with pytest.raises(ValueError, match=r"eviction: (keep|max_age) should"):
        Eviction(**wrong)
