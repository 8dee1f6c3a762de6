"""Tests of a corpus' tables as Markdown and CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from tests.urltree_evaluation.scored import CORPUS, page, pages, workspace
from urltree_evaluation.score import Segments
from urltree_evaluation.statistics.bootstrap import Estimate
from urltree_evaluation.statistics.corpus_tables import corpus_tables
from urltree_evaluation.statistics.grid import Grid, cell_text
from urltree_evaluation.statistics.ranking import ranking
from urltree_evaluation.workspace import Workspace

GRID = Grid(
    "quality",
    ("extractor", "F1", "documents", "p"),
    [
        ("better", Estimate(0.9634, 0.95, 0.98), 1234, None),
        ("wor|se", Estimate(0.9, 0.88, 0.91), 7, 0.0001),
    ],
    frozenset({"F1"}),
)


def tables(work: Workspace) -> dict[str, Grid]:
    """Return the tables of the corpus in a work folder."""
    return corpus_tables(work, ranking(work, CORPUS))


def test_markdown_is_aligned_and_its_best_is_bold() -> None:
    """Markdown is aligned, so that its source is readable, and the best value is bold.

    The character "|" in a name does not end its cell.
    """
    assert GRID.markdown() == dedent(
        """\
        | extractor |             F1 | documents |        p |
        | --------- | -------------: | --------: | -------: |
        | better    | **.963 ±.015** |     1,234 |          |
        | wor\\|se   |     .900 ±.015 |         7 | &lt;.001 |
        """
    )


def test_csv_has_plain_numbers_and_intervals_of_their_own() -> None:
    """CSV has plain numbers, and the ends of intervals in separate columns, for programs."""
    assert GRID.csv() == dedent(
        """\
        extractor,F1,F1 low,F1 high,documents,p
        better,0.9634,0.95,0.98,1234,
        wor|se,0.9,0.88,0.91,7,0.0001
        """
    )


def test_text_of_strangers_does_not_act() -> None:
    """Text from outside creates no image or link in Markdown, and no formula in CSV.

    Negative numbers are kept.
    """
    grid = Grid(
        "domains",
        ("extractor", "@x"),
        [("![](http://a.example)\n`*", -0.5), ("=1+1", 0.5), (" -2", None)],
    )
    assert grid.markdown().splitlines()[2].startswith(r"| !\[\](http://a.example) \`\* |")
    rows = list(csv.reader(grid.csv().splitlines(keepends=True)))
    assert rows[0] == ["extractor", "'@x"]
    assert rows[1] == ["![](http://a.example)\n`*", "-0.5"]
    assert [row[0] for row in rows[2:]] == ["'=1+1", "' -2"]


def test_the_best_of_each_row_may_be_bold_instead() -> None:
    """In a table with extractors as columns, the best value of each row is bold."""
    grid = Grid(
        "domains",
        ("domain", "x", "y"),
        [("a", 0.5, 0.6), ("b", 0.7, 0.7), ("c", np.nan, 0.1)],
        frozenset({"x", "y"}),
        is_best_in_row=True,
    )
    assert grid.markdown().splitlines()[2:] == [
        "| a      |     .500 | **.600** |",
        "| b      | **.700** | **.700** |",
        "| c      |          | **.100** |",
    ]


def test_numbers_are_written_as_in_a_paper() -> None:
    """Numbers have three decimals without a leading zero, and unknown values are empty."""
    cells = [
        1.0,
        0.0,
        -0.0041,
        -0.0001,
        0.0001,
        np.nan,
        Estimate(np.nan, np.nan, np.nan),
        None,
        12345,
    ]
    assert list(map(cell_text, cells)) == [
        "1.000", ".000", "-.004", ".000", "<.001", "", "", "", "12,345",
    ]  # fmt: skip


def test_a_corpus_of_pages_has_these_tables(tmp_path: Path) -> None:
    """A corpus of pages has these tables.

    Tables without data are omitted, and the others are complete in both formats.
    """
    work = workspace(tmp_path, {"x": pages({"a/1": 0.5, "b/1": 0.7}), "y": pages({"a/1": 0.6})})
    grids = tables(work)
    assert list(grids) == ["ranking", "metrics", "boundaries", "pairs", "domains", "extractors"]
    for grid in grids.values():
        rows = list(csv.reader(grid.csv().splitlines()))
        assert len(rows) == len(grid.rows) + 1 == len(grid.markdown().splitlines()) - 1
        assert len(set(map(len, rows))) == 1


def test_a_corpus_of_segments_has_no_table_of_words(tmp_path: Path) -> None:
    """A corpus of segments has no tables of words, because no metric of words was measured."""
    scores = {"x": [page("a/1", segments=Segments(1, 0, 0, 1))]}
    assert list(tables(workspace(tmp_path, scores))) == [
        "segments",
        "boundaries",
        "extractors",
    ]


def test_a_stream_has_tables_of_its_own(tmp_path: Path) -> None:
    """A stream has additional tables of stream extractors on all pages."""
    stream = [page(f"a/{n}", 0.1 * n, number=n, is_sampled=n % 2 == 0) for n in range(1, 8)]
    scores = {"single": [each for each in stream if each.is_sampled], "stream": stream}
    work = workspace(tmp_path, scores, streams=["stream"], kind="stream")
    grids = tables(work)
    assert grids["whole-stream"].csv().splitlines()[1].endswith(",7,1")
    assert grids["milestones"].header[1:] == ("1 (1 domains)", "5 (1 domains)")
    assert grids["curves"].csv().splitlines()[1:3] == ["1,1,0.1", "2,1,0.15"]
    assert "duplicates" not in grids


def test_every_table_says_whose_output_its_gold_is(tmp_path: Path) -> None:
    """Every table's title names the tool that made the gold, because a table may be read alone."""
    scores = {"x": pages({"a/1": 0.5}), "y": pages({"a/1": 0.6})}
    work = workspace(tmp_path, scores, kind="stream", streams=["x"], tool="readability.js")
    found = tables(work)
    assert found["ranking"].title.startswith("made-up (1 documents, 1 domains): F1")
    assert {"pairs", "whole-stream", "curves"} <= set(found)
    for grid in found.values():
        assert grid.title.endswith(" (gold made by readability.js)")


def test_a_domain_with_many_pages_has_intervals_of_its_own(tmp_path: Path) -> None:
    """The interval of a domain uses only its own pages. With one page, there is no interval."""
    x = {f"a/{n}": 0.5 + n % 2 / 10 for n in range(10)} | {"b/1": 0.3}
    y = {name: value - 0.1 for name, value in x.items()}
    many, one = tables(workspace(tmp_path, {"x": pages(x), "y": pages(y)}))["domains"].rows
    assert many[:3] == ["a", 10, "x"]
    assert many[3] == pytest.approx(Estimate(0.1, 0.1, 0.1))
    assert many[4] == Estimate(pytest.approx(0.55), pytest.approx(0.52), pytest.approx(0.58))
    assert one == ["b", 1, "x", pytest.approx(0.1), 0.3, pytest.approx(0.2)]


def test_a_stream_without_stream_extractors_has_no_table_of_whole_streams(tmp_path: Path) -> None:
    """Without stream extractors there are no tables of whole streams.

    Single-page extractors only get samples.
    """
    work = workspace(tmp_path, {"x": pages({"a/1": 0.5, "a/2": 0.6})}, kind="stream")
    grids = tables(work)
    assert "ranking" in grids
    assert not {"whole-stream", "milestones", "curves", "duplicates"} & set(grids)
