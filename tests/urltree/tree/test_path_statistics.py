"""Path statistics: contributions of documents are stored, added, and subtracted exactly."""

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
    " 07000000 ffffffff"  # the two paths
    " 2c01 0300"  # words at each path
    " 0000 0300"  # repeated words at each path
    " 0100 0000"  # linked words at each path
)
CONTRIBUTION = Contribution(7, 9, (PathCounts(7, 300, 0, 1), PathCounts(2**32 - 1, 3, 3, 0)))

numbers = st.integers(1, 2**32 - 1)
few_numbers = st.integers(1, 6)  # few, so that documents share paths


def contributions(of_numbers: st.SearchStrategy[int]) -> st.SearchStrategy[Contribution]:
    """Generate the contribution of a page, which contains each path once."""
    words = st.integers(0, MOST)
    at_path = st.builds(PathCounts, of_numbers, words, words, words)
    at_paths = st.lists(at_path, max_size=6, unique_by=lambda here: here.path).map(tuple)
    # A page has no main element, or one with a path and a path of tags only.
    mains = st.just((0, 0)) | st.tuples(of_numbers, of_numbers)
    return st.builds(lambda main, here: Contribution(*main, here), mains, at_paths)


def added(some: Iterable[Contribution]) -> PathStatistics:
    """Return the statistics of all these contributions."""
    statistics = PathStatistics()
    for each in some:
        statistics.add(each)
    return statistics


def test_the_stored_bytes_of_a_contribution_are_pinned() -> None:
    """The bytes of a contribution are pinned, because rows contain them.

    After a change, a new ROW_VERSION must still read the old bytes.
    """
    assert CONTRIBUTION.encode() == PINNED
    assert Contribution.decode(PINNED) == CONTRIBUTION


@given(contributions(numbers))
def test_what_is_written_is_read(contribution: Contribution) -> None:
    """A decoded contribution equals the encoded one."""
    assert Contribution.decode(contribution.encode()) == contribution


def test_words_beyond_the_most_do_not_count() -> None:
    """A count of words has two bytes, so a page of a million words counts as one of 65,535."""
    contribution = Contribution.of(0, 0, [PathCounts(1, MOST + 1, MOST * 9, 2)])
    assert contribution.paths == (PathCounts(1, MOST, MOST, 2),)


@given(contributions(numbers), st.data())
def test_a_contribution_of_another_length_is_refused(
    contribution: Contribution, data: st.DataObject
) -> None:
    """Bytes of a contribution that are cut short, or followed by other bytes, raise ValueError."""
    stored = contribution.encode()
    with pytest.raises(ValueError, match="length"):
        Contribution.decode(stored[: data.draw(st.integers(0, len(stored) - 1))])
    with pytest.raises(ValueError, match="length"):
        Contribution.decode(stored + data.draw(st.binary(min_size=1, max_size=20)))


@given(st.lists(contributions(few_numbers), max_size=8))
def test_sums_are_those_of_a_recount(some: list[Contribution]) -> None:
    """The statistics are the sums of the contributions by path, and by path of the main element."""
    assert sums(added(some)) == recounted(some)


@given(st.lists(contributions(few_numbers), max_size=8), st.integers(0, 99))
def test_the_order_of_documents_does_not_matter(some: list[Contribution], seed: int) -> None:
    """The order of contributions does not matter, because rows are read in any order."""
    shuffled = random.Random(seed).sample(some, len(some))
    assert sums(added(shuffled)) == sums(added(some))


@given(
    st.lists(contributions(few_numbers), max_size=6),
    st.lists(contributions(few_numbers), max_size=6),
)
def test_what_was_added_and_subtracted_leaves_nothing(
    kept: list[Contribution], gone: list[Contribution]
) -> None:
    """Subtracted contributions leave no trace: no path has zeros, and memory is as before."""
    statistics = added([*gone, *kept])
    for each in gone:
        statistics.subtract(each)
    assert sums(statistics) == sums(added(kept))
    assert statistics.memory == added(kept).memory


def test_a_path_that_no_document_had_is_unknown() -> None:
    """`get` returns None, not zeros, for a path that no document has."""
    statistics = added([CONTRIBUTION])
    found = statistics.get(7)
    assert found is not None
    assert (found.documents, found.words) == (1, 300)
    assert statistics.get(8) is None
