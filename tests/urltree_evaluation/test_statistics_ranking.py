"""Tests of the ranking of a corpus, with all values that a table in a paper needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.urltree_evaluation.scored import CORPUS, page, pages, workspace
from urltree_evaluation.score import Segments
from urltree_evaluation.statistics.ranking import ranking
from urltree_evaluation.statistics.shared_pages import count_boundary_cases
from urltree_evaluation.statistics.table import load_table
from urltree_evaluation.statistics.winners import SignTest, Winner, sign_test, two_sided, winners

GOOD = {"a/1": 0.9, "a/2": 0.7, "b/1": 0.6, "c/1": 0.5}
BAD = {"a/1": 0.4, "a/2": 0.4, "b/1": 0.6, "c/1": 0.1}


def test_extractors_are_ranked_by_macro_f1_of_words(tmp_path: Path) -> None:
    """Extractors are ranked by macro F1 of words, and not by name."""
    found = ranking(workspace(tmp_path, {"a": pages(BAD), "z": pages(GOOD)}), CORPUS)
    assert [row.name for row in found.rows] == ["z", "a"]
    assert [row.headline.value for row in found.rows] == pytest.approx([1.9 / 3, 1.1 / 3])
    assert (found.documents, found.domains) == (4, 3)


def test_all_but_the_best_are_compared_with_it(tmp_path: Path) -> None:
    """All others have a paired difference to the best extractor, and a sign test over domains."""
    found = ranking(workspace(tmp_path, {"a": pages(BAD), "z": pages(GOOD)}), CORPUS)
    best, other = (row.text for row in found.rows)
    assert best is not None
    assert other is not None
    assert (best.behind, best.sign, best.wins) == (None, None, 3)
    assert other.behind is not None
    assert other.behind.value == pytest.approx(-0.8 / 3)
    assert (other.sign, other.wins) == (SignTest(0, 1, 2, 0.5), 1)


def test_a_row_says_what_was_run(tmp_path: Path) -> None:
    """A row contains options and version of its extractor, which make the result reproducible."""
    (row,) = ranking(workspace(tmp_path, {"x": pages(GOOD)}, streams=["x"]), CORPUS).rows
    assert (row.options, row.version, row.is_stream) == ("as it comes", "1.0", True)


def test_boundary_cases_are_counted_by_kind(tmp_path: Path) -> None:
    """Boundary cases are counted by kind, and all other pages count as successes."""
    scores = [
        page("a/1", 0.9),
        page("a/2", 0.0, boundary="time"),
        page("b/1", 0.0, boundary="time"),
        page("c/1", 1.0, boundary="both empty"),
    ]
    work = workspace(tmp_path, {"x": scores})
    (row,) = ranking(work, CORPUS).rows
    assert {kind: count for kind, count in row.boundaries.items() if count} == {
        "time": 2,
        "both empty": 1,
    }
    assert row.successes == 1
    assert count_boundary_cases(load_table(work, CORPUS)) == {"x": row.boundaries}


def test_a_corpus_of_segments_is_ranked_by_their_f1(tmp_path: Path) -> None:
    """A corpus of segments is ranked by the F1 of segments.

    Counts are summed over pages before the division, as in trafilatura's evaluation.
    """
    scores = {
        "x": [
            page("a/1", segments=Segments(1, 1, 0, 2)),
            page("b/1", segments=Segments(5, 0, 2, 1)),
        ],
        "y": [
            page("a/1", segments=Segments(2, 0, 0, 2)),
            page("b/1", segments=Segments(5, 0, 0, 3)),
        ],
    }
    perfect, other = ranking(workspace(tmp_path, scores), CORPUS).rows
    assert (perfect.name, perfect.text, other.text) == ("y", None, None)
    assert other.segments is not None
    values = [figure.value for figure in other.segments[:4]]
    assert values == pytest.approx([6 / 8, 6 / 7, 12 / 15, 9 / 12])
    assert other.segments.behind is not None
    assert other.segments.behind.value == pytest.approx(12 / 15 - 1)
    assert perfect.segments is not None
    assert (perfect.segments.f1, perfect.segments.behind) == ((1, 1, 1), None)


def test_gold_that_a_tool_made_is_marked(tmp_path: Path) -> None:
    """A ranking names the tool that made the gold, because that tool would win.

    Such a ranking is shown separately.
    """
    found = ranking(workspace(tmp_path, {"x": pages(GOOD)}, tool="readability.js"), CORPUS)
    assert found.tool == "readability.js"


def test_extractors_that_were_not_scored_to_the_end_are_named(tmp_path: Path) -> None:
    """Extractors without scores of the whole corpus are not ranked, but listed as left out."""
    work = workspace(tmp_path, {"x": pages(GOOD), "y": pages(BAD)})
    work.scores_file(CORPUS, "y", "pages").unlink()
    found = ranking(work, CORPUS)
    assert ([row.name for row in found.rows], found.left_out) == (["x"], ("y",))


def test_who_wins_where(tmp_path: Path) -> None:
    """`winners` names the best extractor of each domain, or all if several are equal.

    It also gives the best F1 and its distance from the next value.
    """
    table = load_table(workspace(tmp_path, {"x": pages(GOOD), "y": pages(BAD)}), CORPUS)
    a, b, c = winners(table)
    assert a == Winner("a", 2, ("x",), pytest.approx(0.8), pytest.approx(0.4))
    assert b == Winner("b", 1, ("x", "y"), 0.6, 0.0)
    assert c == Winner("c", 1, ("x",), 0.5, pytest.approx(0.4))


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),
        (0, 5, 2 / 32),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
        (3, 3, 1.0),
        (18, 4, 0.004344),
    ],
)
def test_p_is_the_exact_binomial(wins: int, losses: int, p: float) -> None:
    """The p value is that of the exact binomial test.

    It is two-sided: twice the smaller tail, but at most 1.
    """
    assert two_sided(wins, losses) == pytest.approx(p, abs=1e-6)


def test_ties_say_nothing(tmp_path: Path) -> None:
    """Domains with equal values are counted as ties and do not affect p."""
    x = {f"{n}/1": 0.5 for n in range(20)}
    y = x | {f"{n}/1": 0.4 for n in range(5)}
    table = load_table(workspace(tmp_path, {"x": pages(x), "y": pages(y)}), CORPUS)
    assert sign_test(table, "x", "y") == SignTest(5, 15, 0, 2 / 32)
