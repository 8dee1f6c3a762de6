"""The registry of heuristics, and the four heuristics of the paper at the limits of their N."""

from __future__ import annotations

from array import array

import pytest

from tests.urltree.builders import document
from urltree.heuristics.protocol import Verdict
from urltree.heuristics.registry import DEFAULT, NAMES, heuristic
from urltree.tree.path_statistics import PathStatistics
from urltree.tree.url_tree import Node, UrlTree

PAPERS = ("strict", "strict-support-100", "strict-at-domain", "relaxed-at-domain-500")


def leaf_of(*, support: int, at_domain: int) -> Node:
    """Return a leaf with `support` documents, in a tree with `at_domain` documents.

    All documents contain block 1. Block 9 is in one document at the leaf, and in one elsewhere.
    """
    tree = UrlTree()
    for number in range(at_domain - support):
        tree.insert(b"elsewhere %d" % number, ("y",), array("Q", [1, 9] if number == 0 else [1]))
    for number in range(support):
        last = number == support - 1
        leaf = tree.insert(b"here %d" % number, ("x",), array("Q", [1, 9] if last else [1]))
    return leaf


def judge(name: str, hashes: list[int], leaf: Node) -> Verdict:
    """Return the verdict of a heuristic on a document with these blocks."""
    return heuristic(name).judge(document(1, hashes), leaf, PathStatistics())


@pytest.mark.parametrize(
    ("name", "support", "at_domain", "depth"),
    [
        ("strict", 5, 9, 1),
        ("strict", 4, 9, 0),
        ("strict", 1, 2, 0),
        ("strict-support-100", 101, 103, 1),
        ("strict-support-100", 100, 103, 0),
        ("strict-support-100", 50, 99, 0),
        ("strict-support-7", 8, 9, 1),
        ("strict-support-7", 7, 9, 0),
        ("strict-at-domain", 50, 99, 0),
        ("relaxed-at-domain-500", 600, 700, 0),
    ],
)
def test_the_node_that_judges(name: str, support: int, at_domain: int, depth: int) -> None:
    """On the way from the leaf to the root, the first node with enough support judges.

    If no node has enough support, the root judges.
    """
    verdict = judge(name, [], leaf_of(support=support, at_domain=at_domain))
    assert verdict.depth == depth
    assert verdict.support == (support if depth else at_domain)


@pytest.mark.parametrize(
    ("name", "at_domain", "boilerplate"),
    [
        ("strict-at-domain", 9, (True, True, True)),
        ("relaxed-at-domain-8", 8, (True, True, True)),
        ("relaxed-at-domain-8", 9, (True, False, True)),
        ("strict", 9, (True, False, True)),
    ],
)
def test_a_block_is_boilerplate_where_it_occurs_more_often_than_c_max(
    name: str, at_domain: int, boilerplate: tuple[bool, ...]
) -> None:
    """A block is boilerplate if more than `c_max` documents of the judging node contain it.

    Block 9 is in 2 documents of the domain, and in 1 at the leaf.
    """
    verdict = judge(name, [1, 9, 1], leaf_of(support=5, at_domain=at_domain))
    assert verdict.boilerplate == boilerplate
    at_leaf = verdict.depth == 1
    assert verdict.counts == ((5, 1, 5) if at_leaf else (at_domain, 2, at_domain))


def test_a_first_page_has_nothing_but_content() -> None:
    """All blocks of a first page are content; a block that occurs twice on a page counts once."""
    leaf = UrlTree().insert(b"a", ("x",), array("Q", [1]))
    assert judge("strict", [1, 1], leaf).boilerplate == (False, False)


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_heuristics_know_neither_kinds_nor_paths(name: str) -> None:
    """The paper's heuristics return neither kinds nor path statistics, so rows store none."""
    verdict = judge(name, [1, 9], leaf_of(support=5, at_domain=9))
    assert (verdict.kinds, verdict.contribution) == (None, None)


@pytest.mark.parametrize("name", [*NAMES, "strict-support-1", "relaxed-at-domain-1000"])
def test_a_heuristic_is_named_as_it_is_asked_for(name: str) -> None:
    """A heuristic's name is the one it was requested by; rows and clean-text store this name."""
    assert heuristic(name).name == name


def test_the_papers_four_follow_the_default() -> None:
    """The default comes first in the list of names, then the four of the paper (section 5.5)."""
    assert NAMES[: 1 + len(PAPERS)] == (DEFAULT, *PAPERS)


@pytest.mark.parametrize(
    "name",
    [
        *("", "Strict", "strict ", "strict\n", "strict-5", "strict-at-domain-3", "relaxed"),
        *("strict-support", "strict-support-", "strict-support-x", "strict-support--1"),
        *(
            "evidence-1",
            "evidence-without-",
            "evidence-without-luck",
            "strict-support-1.5",
            "strict-support-\N{ARABIC-INDIC DIGIT ONE}",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_are_known(name: str) -> None:
    """An unknown name raises ValueError, whose message lists the known names."""
    with pytest.raises(ValueError, match="use one of evidence, strict, ") as refused:
        heuristic(name)
    assert repr(name) in str(refused.value)
