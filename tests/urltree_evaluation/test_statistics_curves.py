"""Tests of learning curves, milestones and duplicates of a stream."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.urltree_evaluation.scored import CORPUS, page, workspace
from urltree_evaluation.prediction import Prediction
from urltree_evaluation.score import Score
from urltree_evaluation.statistics.curves import average_after, curves, mean_curve, milestones
from urltree_evaluation.statistics.stream_tables import count_duplicates
from urltree_evaluation.statistics.table import ScoreTable, whole_stream
from urltree_evaluation.workspace import write_lines

# F1 by document number; domain A has scores of all its documents, domain B only of two
A = {1: 0.0, 2: 0.5, 3: 1.0, 4: 0.9, 5: 0.6}
B = {2: 0.4, 10: 0.8}


def stream(path: Path, **domains: dict[int, float]) -> ScoreTable:
    """Return the table of a stream; `domains` maps document numbers to one extractor's F1."""
    scores = [
        page(f"{domain}/{number}", f1, number=number)
        for domain, given in domains.items()
        for number, f1 in given.items()
    ]
    work = workspace(path, {"x": scores}, streams=["x"], kind="stream")
    return whole_stream(work, CORPUS)


def test_a_curve_is_the_mean_of_all_documents_until_each(tmp_path: Path) -> None:
    """A value of a curve is the mean over all scored documents so far.

    It is the paper's cumulative moving average (section 5.2, formula 4).
    """
    found = curves(stream(tmp_path, a=A, b=B), "x")
    assert found["a"].numbers.tolist() == [1, 2, 3, 4, 5]
    assert found["a"].values.tolist() == pytest.approx([0, 0.25, 0.5, 0.6, 0.6])
    assert found["b"].numbers.tolist() == [2, 10]
    assert found["b"].values.tolist() == pytest.approx([0.4, 0.6])


def test_documents_that_are_not_scored_are_counted(tmp_path: Path) -> None:
    """Documents without a score count in the document number.

    The average stays the same until the next scored document.
    """
    curve = curves(stream(tmp_path, b=B), "x")["b"]
    assert [average_after(curve, number) for number in (2, 5, 9)] == [0.4] * 3
    assert average_after(curve, 10) == pytest.approx(0.6)


@pytest.mark.parametrize("number", [1, 11])
def test_a_domain_says_nothing_before_its_first_and_after_its_last(
    tmp_path: Path, number: int
) -> None:
    """A curve has no value before its first or after its last document.

    A domain of 60 documents has no value at 500.
    """
    assert np.isnan(average_after(curves(stream(tmp_path, b=B), "x")["b"], number))


def test_the_mean_curve_is_of_the_domains_that_have_as_many(tmp_path: Path) -> None:
    """A value of the mean curve is the mean over the domains with that many documents.

    The curve also contains the number of these domains.
    """
    mean = mean_curve(curves(stream(tmp_path, a=A, b=B), "x"))
    assert mean.numbers.tolist() == list(range(1, 11))
    assert mean.domains.tolist() == [1, 2, 2, 2, 2, 1, 1, 1, 1, 1]
    expected = [0, (0.25 + 0.4) / 2, (0.5 + 0.4) / 2, 0.5, 0.5, 0.4, 0.4, 0.4, 0.4, 0.6]
    assert mean.values.tolist() == pytest.approx(expected)


def test_a_stream_without_scores_has_no_curve(tmp_path: Path) -> None:
    """A stream without scores has an empty curve and no milestones, and raises no error."""
    table = stream(tmp_path, a={})
    assert mean_curve(curves(table, "x")).numbers.tolist() == []
    assert milestones(table) == []


def test_milestones_are_means_over_the_domains_that_have_as_many(tmp_path: Path) -> None:
    """A milestone has two means over the domains with that many documents.

    One is over all documents so far, and the other over the second half of them.
    """
    first, fifth, tenth = milestones(stream(tmp_path, a=A, b=B))
    numbers = [(each.number, each.domains) for each in (first, fifth, tenth)]
    assert numbers == [(1, 1), (5, 2), (10, 1)]
    assert first.average["x"].value == 0
    assert fifth.average["x"].value == pytest.approx((0.6 + 0.4) / 2)
    assert (fifth.latest_domains, tenth.latest_domains) == (1, 1)
    assert fifth.latest["x"].value == pytest.approx((1.0 + 0.9 + 0.6) / 3)
    assert tenth.average["x"].value == pytest.approx(0.6)
    assert tenth.latest["x"].value == pytest.approx(0.8)


def test_duplicates_are_counted_by_the_step_that_found_them(tmp_path: Path) -> None:
    """Duplicates are counted by the step that detected them, the most frequent step first.

    Extractors without duplicates are omitted.
    """
    steps = {"a/1": "", "a/2": "path", "a/3": "query", "a/4": "query"}
    found: list[Score] = [
        page(n, None if s else 0.5, is_duplicate=bool(s)) for n, s in steps.items()
    ]
    none = [page(name, 0.5) for name in steps]
    work = workspace(tmp_path, {"finds": found, "finds-none": none}, kind="stream")
    predictions = [
        Prediction(
            name, 1, is_sampled=True, text="", failure="duplicate" if step else None, message=step
        )
        for name, step in steps.items()
    ]
    write_lines(work.predictions_file(CORPUS, "finds", "pages"), predictions)
    counted = count_duplicates(work, CORPUS)
    assert counted == {"finds": {"query": 2, "path": 1}}
    assert list(counted["finds"]) == ["query", "path"]
