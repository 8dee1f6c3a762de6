"""The paper's four heuristics, at the edges of their N."""

from __future__ import annotations

from array import array

import pytest

from tests.urltree.builders import text_block
from urltree.heuristics import NAMES, heuristic
from urltree.tree import Node, UrlTree


def leaf_of(*, support: int, at_domain: int) -> Node:
    """The leaf /x of `support` documents with block 1, the last of them alone with block 9.

    Further documents of the domain contain block 1 too, and one of them block 9.
    """
    tree = UrlTree()
    for number in range(at_domain - support):
        tree.insert(b"elsewhere %d" % number, ("y",), array("Q", [1, 9] if number == 0 else [1]))
    for number in range(support):
        last = number == support - 1
        leaf = tree.insert(b"here %d" % number, ("x",), array("Q", [1, 9] if last else [1]))
    return leaf


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
    """The first with enough support from the leaf rootward, else the root."""
    judgement = heuristic(name).judge((), leaf_of(support=support, at_domain=at_domain))
    assert judgement.depth == depth
    assert judgement.support == (support if depth else at_domain)


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
    """Block 9 stands in 2 documents of the domain, 1 of them at the leaf."""
    blocks = [text_block(1), text_block(9), text_block(1)]
    leaf = leaf_of(support=5, at_domain=at_domain)
    judgement = heuristic(name).judge(blocks, leaf)
    assert judgement.boilerplate == boilerplate
    at_leaf = judgement.depth == 1
    assert judgement.counts == ((5, 1, 5) if at_leaf else (at_domain, 2, at_domain))


def test_a_first_page_has_nothing_but_content() -> None:
    """There is nothing to learn from yet, even where a block occurs twice in the page."""
    leaf = UrlTree().insert(b"a", ("x",), array("Q", [1]))
    judgement = heuristic("strict").judge([text_block(1), text_block(1)], leaf)
    assert judgement.boilerplate == (False, False)


@pytest.mark.parametrize("name", [*NAMES, "strict-support-1", "relaxed-at-domain-1000"])
def test_a_heuristic_is_named_as_it_is_asked_for(name: str) -> None:
    """Its name goes to settings, rows and clean-text."""
    assert heuristic(name).name == name


def test_the_papers_four_are_there() -> None:
    """With the paper's N (section 5.5)."""
    assert NAMES == ("strict", "strict-support-100", "strict-at-domain", "relaxed-at-domain-500")


@pytest.mark.parametrize(
    "name",
    [
        *("", "Strict", "strict ", "strict\n", "strict-5", "strict-at-domain-3", "relaxed"),
        *("strict-support", "strict-support-", "strict-support-x", "strict-support--1"),
        *("strict-support-1.5", "strict-support-\N{ARABIC-INDIC DIGIT ONE}"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_are_known(name: str) -> None:
    """In one sentence."""
    with pytest.raises(ValueError, match="there are strict, strict-support-100") as refused:
        heuristic(name)
    assert repr(name) in str(refused.value)
