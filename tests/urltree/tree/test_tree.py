"""The URL tree: each node counts its documents, and removal is the inverse of insertion."""

from __future__ import annotations

import gc
import random
import tracemalloc
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urltree.builders import nodes
from urltree.tree.url_tree import SMALL, UrlTree


def hashes(*values: int) -> array[int]:
    """Return these block hashes as an array."""
    return array("Q", values)


def test_each_node_of_a_branch_counts_the_document() -> None:
    """A document counts at each node of its branch.

    The tree is the one drawn in the docstring of `url_tree.py`, with a block that all documents
    share.
    """
    tree = UrlTree()
    tree.insert(b"a", ("news", "2013", "a.html"), hashes(1, 2))
    tree.insert(b"b", ("news", "2013", "b.html"), hashes(1, 3))
    tree.insert(b"c", ("news", "c.html"), hashes(1, 3))
    tree.insert(b"d", ("about",), hashes(1))
    assert nodes(tree.root) == {
        (): (4, {1: 4, 2: 1, 3: 2}),
        ("news",): (3, {1: 3, 2: 1, 3: 2}),
        ("news", "2013"): (2, {1: 2, 2: 1, 3: 1}),
        ("news", "2013", "a.html"): (1, {1: 1, 2: 1}),
        ("news", "2013", "b.html"): (1, {1: 1, 3: 1}),
        ("news", "c.html"): (1, {1: 1, 3: 1}),
        ("about",): (1, {1: 1}),
    }


def test_a_branch_leads_from_the_leaf_to_the_root() -> None:
    """The nodes of a branch have depths down to 0; `leaf` finds a leaf by document id."""
    tree = UrlTree()
    leaf = tree.insert(b"a", ("news", "2013", "a.html"), hashes())
    assert tree.leaf(b"a") is leaf
    assert [(node.name, node.depth) for node in leaf.rootward()] == [
        ("a.html", 3),
        ("2013", 2),
        ("news", 1),
        ("", 0),
    ]


def test_a_leaf_may_have_children() -> None:
    """A leaf may have children: /story is a document, and /story?id=1 is below it."""
    tree = UrlTree()
    tree.insert(b"a", ("story",), hashes(1))
    tree.insert(b"b", ("story", "?id=1"), hashes(2))
    tree.remove(b"a")
    assert nodes(tree.root) == {
        (): (1, {2: 1}),
        ("story",): (1, {2: 1}),
        ("story", "?id=1"): (1, {2: 1}),
    }


def test_documents_of_equal_blocks_are_different_documents() -> None:
    """If one of two documents with equal blocks is removed, the other one still counts."""
    tree = UrlTree()
    tree.insert(b"a", ("x",), hashes(1))
    tree.insert(b"b", ("x",), hashes(1))
    tree.remove(b"a")
    assert nodes(tree.root)[("x",)] == (1, {1: 1})
    assert b"a" not in tree
    assert b"b" in tree


def test_a_hash_that_is_nowhere_counts_0() -> None:
    """A hash that no document has counts 0, whether the node has few or many documents."""
    tree = UrlTree()
    for number in range(SMALL + 2):
        assert tree.root.counts()[99] == 0
        tree.insert(bytes([number]), (), hashes(number))


@pytest.mark.parametrize("most", [SMALL - 1, SMALL, SMALL + 1, 3 * SMALL])
def test_counts_stay_right_over_the_boundary_to_counting_and_back(most: int) -> None:
    """Counts are right while the number of documents rises to SMALL and beyond, and falls to 0.

    Above SMALL documents, a node stores counts instead of hashes.
    """
    tree = UrlTree()
    empty = tree.memory
    for _ in range(2):
        for number in range(most):
            tree.insert(bytes([number]), ("x",), hashes(1, 100 + number))
            assert tree.root.counts() == {1: number + 1} | {100 + n: 1 for n in range(number + 1)}
        for number in range(most):
            tree.remove(bytes([number]))
            kept = range(number + 1, most)
            expected = {1: len(kept)} | {100 + n: 1 for n in kept}
            assert tree.root.counts() == (expected if kept else {})
            assert len(tree) == tree.root.support == len(kept)
        assert (tree.memory, tree.root.children) == (empty, {})


@given(st.randoms(use_true_random=False), st.integers(0, 40))
def test_removing_is_the_inverse_of_inserting(chance: random.Random, count: int) -> None:
    """Documents that are inserted and then removed, in any order, leave the tree unchanged."""
    tree = UrlTree()
    for number in range(SMALL):
        insert_by_chance(tree, number, chance)
    before = nodes(tree.root)
    more = range(SMALL, SMALL + count)
    for number in more:
        insert_by_chance(tree, number, chance)
    for number in chance.sample(more, count):
        tree.remove(number.to_bytes(16))
    assert nodes(tree.root) == before


@pytest.mark.parametrize("sections", [1, 20])
@pytest.mark.parametrize("own_blocks", [2, 60])
def test_the_memory_estimate_is_near_what_python_allocates(sections: int, own_blocks: int) -> None:
    """The estimated memory is within a quarter of the allocated memory on average.

    It cannot be exact at each step, because a dict doubles its size.
    """
    chance = random.Random(1)
    tree = UrlTree()
    estimated = allocated = 0
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(500):
            own = [chance.randrange(2**63, 2**64) for _ in range(own_blocks)]
            distinct = hashes(*range(2**63, 2**63 + 50), *own)
            branch = (f"section-{number % sections}", f"page-{number}")
            tree.insert(number.to_bytes(16), branch, distinct)
            del own, distinct, branch
            estimated += tree.memory
            allocated += tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 0.75 < estimated / allocated < 1.25


def insert_by_chance(tree: UrlTree, number: int, chance: random.Random) -> None:
    """Insert a document with random blocks at a random place of a small tree."""
    branch = [chance.choice("ab") for _ in range(chance.randrange(4))]
    distinct = {chance.randrange(9) for _ in range(6)}
    tree.insert(number.to_bytes(16), branch, hashes(*distinct))
