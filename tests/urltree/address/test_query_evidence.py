"""Query evidence: documents show whether a parameter changes the content of a page."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import pytest

from urltree.address.query_evidence import (
    FEWEST_PAIRS,
    MAX_NAMES,
    MAX_PAIRS,
    MAX_PARAMETERS,
    ParameterEvidence,
    SampledDocument,
    query_evidence,
)
from urltree.address.url import normalise

MENU = range(5)


def sample(address: str, content: int) -> SampledDocument:
    """Return a document with a menu, and ten blocks that depend on the number `content`."""
    blocks = range(100 + 10 * content, 110 + 10 * content)
    return SampledDocument.of(
        normalise(f"https://example.org{address}"), array("Q", [*MENU, *blocks])
    )


def found(samples: Iterable[SampledDocument]) -> dict[str, ParameterEvidence]:
    """Return the evidence about each parameter of a site that has only one path."""
    (path,) = query_evidence(list(samples))
    return {each.name: each for each in path.parameters or ()}


def answers(samples: Iterable[SampledDocument]) -> dict[str, str]:
    """Return `keep`, `drop` or `undecided` for each parameter of a site that has one path."""
    return {name: each.answer for name, each in found(samples).items()}


def test_the_order_of_a_list_is_dropped_and_its_page_is_kept() -> None:
    """A parameter that only sorts a list is dropped; one that selects its page is kept."""
    site = [sample(f"/list?page={page}&sort={order}", page) for page in range(9) for order in "abc"]
    assert list(found(site).values()) == [
        ParameterEvidence("page", 27, pairs=24, same=0, different=24, addresses=0),
        ParameterEvidence("sort", 27, pairs=18, same=18, different=0, addresses=9),
    ]
    assert answers(site) == {"page": "keep", "sort": "drop"}


def test_a_parameter_that_may_be_missing_is_compared_with_none() -> None:
    """Two documents form a pair if their URLs differ only in that one lacks the parameter."""
    site = [sample(f"/{query}", n) for n in range(9) for query in (f"?id={n}", f"?id={n}&print")]
    assert answers(site) == {"id": "keep", "print": "drop"}


def test_too_few_pairs_decide_nothing() -> None:
    """With fewer than FEWEST_PAIRS pairs the answer is `undecided`, never `drop` or `keep`."""
    few = range(FEWEST_PAIRS)
    assert answers([sample(f"/?id={n}", n) for n in few]) == {"id": "undecided"}
    assert answers([sample(f"/?id={n}", n) for n in range(len(few) + 1)]) == {"id": "keep"}
    same = [sample(f"/?id={n}&s={s}", n) for n in few[:-1] for s in "ab"]
    assert answers(same)["s"] == "undecided"


def test_one_pair_that_differs_forbids_to_drop() -> None:
    """A parameter is not dropped if the content differs in at least one pair."""
    site = [sample(f"/?id={n}&s={s}", n) for n in range(20) for s in "ab"]
    site[1] = sample("/?id=0&s=b", 99)
    assert answers(site)["s"] == "undecided"


def test_an_answer_for_every_value_at_one_address_is_no_evidence_to_drop() -> None:
    """A parameter is not dropped if its pairs have equal content at only one address.

    The content may be an error page, which is shown for every value.
    """
    lost = [sample(f"/?id={n}", 0) for n in range(9)]
    others = [sample(f"/{n}", n) for n in range(1, 30)]
    (path,) = query_evidence(lost + others)
    (parameter,) = path.parameters or ()
    assert (parameter.same, parameter.addresses, parameter.answer) == (8, 1, "undecided")


def test_what_many_documents_contain_says_nothing() -> None:
    """Documents form no pairs if many addresses show the same content, as with a consent page."""
    walls = [sample(f"/?id={n}&s={s}", 0) for n in range(50) for s in "ab"]
    others = [sample(f"/{n}", n) for n in range(1, 100)]
    (path,) = query_evidence(walls + others)
    assert [(each.pairs, each.answer) for each in path.parameters or ()] == [(0, "undecided")] * 2


def test_teasers_that_rotate_leave_a_doubt() -> None:
    """Pairs of documents that differ only in rotating teasers are neither equal nor different.

    The answer for the parameter of such pairs is `undecided`.
    """
    site = [
        SampledDocument.of(one.url, array("Q", [*one.hashes, *range(1000 + 4 * n, 1004 + 4 * n)]))
        for n, one in enumerate(sample(f"/?id={k}&s={s}", k) for k in range(9) for s in "ab")
    ]
    parameter = found(site)["s"]
    assert (parameter.pairs, parameter.same, parameter.different) == (9, 0, 0)
    assert parameter.answer == "undecided"


@pytest.mark.parametrize("address", ["/?s={0}", "/?id={1}&s={0}"])
def test_pairs_of_a_hostile_parameter_are_bounded(address: str) -> None:
    """A parameter with endless values gives at most MAX_PAIRS pairs, at one address or at many."""
    site = [sample(address.format(number, number // 2), number) for number in range(2_000)]
    assert FEWEST_PAIRS <= found(site)["s"].pairs <= MAX_PAIRS


def test_a_url_with_too_many_parameters_is_compared_with_none() -> None:
    """URLs with too many parameters form no pairs.

    The names of the parameters are still in the evidence, because a rule must retain them.
    """
    others = "&".join(f"n{number}=1" for number in range(MAX_PARAMETERS - 1))
    site = [sample(f"/?id={n}&s={s}&{others}", n) for n in range(9) for s in "ab"]
    said = found(site)
    assert len(said) == MAX_PARAMETERS + 1
    assert {each.pairs for each in said.values()} == {0}


def test_names_without_end_are_no_names() -> None:
    """If a path has more than MAX_NAMES parameter names, its evidence lists no parameters."""
    (path,) = query_evidence([sample(f"/?n{number}=1", number) for number in range(MAX_NAMES + 1)])
    assert path.parameters is None


def test_hosts_and_paths_speak_for_themselves() -> None:
    """Each path has its own evidence, because one name may have another meaning elsewhere."""
    site = [sample(f"/a.php?s={s}&id={n}", n) for n in range(9) for s in "ab"]
    site += [sample(f"/b.php?s={n}", 10 + n) for n in range(9)]
    said = [(path.path, [p.answer for p in path.parameters or ()]) for path in query_evidence(site)]
    assert said == [("/a.php", ["keep", "drop"]), ("/b.php", ["keep"])]
