"""Path statistics: what documents contribute is stored, summed, and taken away exactly."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urltree.path_recount import recounted, sums
from urltree.tree.path_statistics import MOST, Contribution, PathCounts, PathStatistics

PINNED = bytes.fromhex(
    "07000000 09000000 0200"  # main element at path 7, by tags alone at path 9; two paths
    " 07000000 ffffffff"  # their numbers
    " 2c01 0300"  # words
    " 0000 0300"  # repeated
    " 0100 0000"  # linked
)
CONTRIBUTION = Contribution(7, 9, (PathCounts(7, 300, 0, 1), PathCounts(2**32 - 1, 3, 3, 0)))

numbers = st.integers(1, 2**32 - 1)
few_numbers = st.integers(1, 6)  # so that documents share paths


def contributions(of_numbers: st.SearchStrategy[int]) -> st.SearchStrategy[Contribution]:
    """Any that a page may make: each path once."""
    words = st.integers(0, MOST)
    at_path = st.builds(PathCounts, of_numbers, words, words, words)
    at_paths = st.lists(at_path, max_size=6, unique_by=lambda here: here.path).map(tuple)
    mains = st.just((0, 0)) | st.tuples(of_numbers, of_numbers)  # a main element has both paths
    return st.builds(lambda main, here: Contribution(*main, here), mains, at_paths)


def added(some: Iterable[Contribution]) -> PathStatistics:
    """The statistics of these documents."""
    statistics = PathStatistics()
    for each in some:
        statistics.add(each)
    return statistics


def test_the_stored_bytes_of_a_contribution_are_pinned() -> None:
    """Rows hold them: whoever changes them raises ROW_VERSION, and reads the old ones."""
    assert CONTRIBUTION.encode() == PINNED
    assert Contribution.decode(PINNED) == CONTRIBUTION


@given(contributions(numbers))
def test_what_is_written_is_read(contribution: Contribution) -> None:
    """Any contribution survives storage."""
    assert Contribution.decode(contribution.encode()) == contribution


def test_words_beyond_the_most_do_not_count() -> None:
    """Two bytes hold them; a page of a million words is as one of 65,535."""
    contribution = Contribution.of(0, 0, [PathCounts(1, MOST + 1, MOST * 9, 2)])
    assert contribution.paths == (PathCounts(1, MOST, MOST, 2),)


@given(contributions(numbers), st.data())
def test_a_contribution_of_another_length_is_refused(
    contribution: Contribution, data: st.DataObject
) -> None:
    """Cut short anywhere, or with bytes behind it."""
    stored = contribution.encode()
    with pytest.raises(ValueError, match="length"):
        Contribution.decode(stored[: data.draw(st.integers(0, len(stored) - 1))])
    with pytest.raises(ValueError, match="length"):
        Contribution.decode(stored + data.draw(st.binary(min_size=1, max_size=20)))


@given(st.lists(contributions(few_numbers), max_size=8))
def test_sums_are_those_of_a_recount(some: list[Contribution]) -> None:
    """Of each path, and of main elements."""
    assert sums(added(some)) == recounted(some)


@given(st.lists(contributions(few_numbers), max_size=8), st.integers(0, 99))
def test_the_order_of_documents_does_not_matter(some: list[Contribution], seed: int) -> None:
    """Rows are read in any order."""
    shuffled = random.Random(seed).sample(some, len(some))
    assert sums(added(shuffled)) == sums(added(some))


@given(
    st.lists(contributions(few_numbers), max_size=6),
    st.lists(contributions(few_numbers), max_size=6),
)
def test_what_was_added_and_subtracted_leaves_nothing(
    kept: list[Contribution], gone: list[Contribution]
) -> None:
    """No path with zeros stays behind: memory is what it would have been."""
    statistics = added([*gone, *kept])
    for each in gone:
        statistics.subtract(each)
    assert sums(statistics) == sums(added(kept))
    assert statistics.memory == added(kept).memory


def test_a_path_that_no_document_had_is_unknown() -> None:
    """None, rather than zeros."""
    statistics = added([CONTRIBUTION])
    found = statistics.get(7)
    assert found is not None
    assert (found.documents, found.words) == (1, 300)
    assert statistics.get(8) is None
