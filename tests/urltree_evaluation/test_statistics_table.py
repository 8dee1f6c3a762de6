"""Tests of tables of scores: the pages that count, and how they are averaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.urltree_evaluation.scored import CORPUS, page, pages, workspace
from urltree_evaluation.statistics.table import load_table, whole_stream


def test_macro_is_the_mean_over_domains_of_the_mean_over_their_pages(tmp_path: Path) -> None:
    """The macro mean gives each site the same weight.

    The micro mean gives each page the same weight.
    """
    work = workspace(tmp_path, {"x": pages({"a/1": 0.4, "a/2": 0.6, "a/3": 0.8, "b/1": 0.2})})
    table = load_table(work, CORPUS)
    assert table.macro() == pytest.approx({"x": (0.6 + 0.2) / 2})
    assert table.micro() == pytest.approx({"x": 2.0 / 4})


def test_only_pages_that_every_extractor_was_given_count(tmp_path: Path) -> None:
    """Only pages that all extractors received count.

    Otherwise an extractor that did not get the difficult pages would win.
    """
    scores = {"x": pages({"a/1": 0.4, "a/2": 0.6}), "y": pages({"a/3": 0.1, "a/2": 0.8})}
    table = load_table(workspace(tmp_path, scores), CORPUS)
    assert table.ids == ("a/2",)
    assert table.macro() == {"x": 0.6, "y": 0.8}


def test_a_table_of_one_extractor_has_all_its_pages(tmp_path: Path) -> None:
    """A table of one extractor has all its pages, because other extractors do not matter."""
    scores = {"x": pages({"a/1": 0.4, "a/2": 0.6}), "y": pages({"a/2": 0.8})}
    table = load_table(workspace(tmp_path, scores), CORPUS, extractors=["x"])
    assert table.ids == ("a/1", "a/2")


def test_a_duplicate_to_one_extractor_counts_for_none(tmp_path: Path) -> None:
    """A page that is a duplicate to one extractor counts for no extractor.

    The extractor that detected the duplicate has no text to compare.
    """
    scores = {
        "x": pages({"a/1": 0.4, "a/2": 0.6}),
        "y": [page("a/1", is_duplicate=True), page("a/2", 0.7)],
    }
    assert load_table(workspace(tmp_path, scores), CORPUS).ids == ("a/2",)


def test_a_page_that_an_extractor_failed_on_is_0_in_its_mean(tmp_path: Path) -> None:
    """A failed page counts as 0 in an extractor's mean.

    Only the extractor's mean of successes excludes it.
    """
    scores = {
        "x": [page("a/1", 0.8), page("a/2", 0.0, boundary="time")],
        "y": pages({"a/1": 0.5, "a/2": 0.7}),
    }
    table = load_table(workspace(tmp_path, scores), CORPUS)
    assert table.macro() == pytest.approx({"x": 0.4, "y": 0.6})
    assert table.successes() == pytest.approx({"x": 0.8, "y": 0.6})


def test_successes_are_not_a_number_where_there_are_none(tmp_path: Path) -> None:
    """Without successes, their mean is NaN and not 0, because nothing was measured."""
    scores = {"x": [page("a/1", 0.0, boundary="crash")]}
    assert np.isnan(load_table(workspace(tmp_path, scores), CORPUS).successes()["x"])


def test_pages_without_domain_are_domains_of_their_own(tmp_path: Path) -> None:
    """Each page without a domain is a domain of its own.

    Published corpora have about one page of each site.
    """
    work = workspace(tmp_path, {"x": pages({"/1": 0.2, "/2": 0.4, "a/1": 0.6, "a/2": 1.0})})
    table = load_table(work, CORPUS)
    assert table.domain_names == ("/1", "/2", "a")
    assert table.macro() == pytest.approx({"x": (0.2 + 0.4 + 0.8) / 3})


def test_pages_without_full_gold_are_in_no_row(tmp_path: Path) -> None:
    """Pages without full gold are not in the table, because they have no metrics."""
    work = workspace(tmp_path, {"x": [page("a/1"), page("a/2", 0.5)]})
    assert load_table(work, CORPUS).ids == ("a/2",)


def test_precision_has_a_table_as_f1_has(tmp_path: Path) -> None:
    """A table of precision has the same pages as a table of F1."""
    work = workspace(tmp_path, {"x": [page("a/1", 0.5, precision=0.9)]})
    assert load_table(work, CORPUS, of="precision").macro() == {"x": 0.9}


def test_an_extractor_without_scores_of_the_whole_corpus_is_left_out(tmp_path: Path) -> None:
    """An extractor without scores of the whole corpus is left out of the table.

    Otherwise most pages would not be shared by all extractors.
    """
    work = workspace(tmp_path, {"x": pages({"a/1": 0.5}), "y": pages({"a/1": 0.6})})
    work.scores_file(CORPUS, "y", "pages").unlink()
    assert load_table(work, CORPUS).names == ("x",)


def test_a_whole_stream_has_stream_extractors_on_all_pages(tmp_path: Path) -> None:
    """The table of a whole stream has stream extractors on all pages.

    The table of a ranking has all extractors on the sampled pages.
    """
    scores = {
        "single": pages({"a/1": 0.9}),
        "stream": [page("a/1", 0.4), page("a/2", 0.8, is_sampled=False)],
    }
    work = workspace(tmp_path, scores, streams=["stream"], kind="stream")
    assert load_table(work, CORPUS).macro() == {"single": 0.9, "stream": 0.4}
    assert whole_stream(work, CORPUS).macro() == pytest.approx({"stream": 0.6})


def test_scores_that_were_written_anew_are_read_anew(tmp_path: Path) -> None:
    """Scores are cached until their file changes, and are then read again."""
    assert load_table(workspace(tmp_path, {"x": pages({"a/1": 0.5})}), CORPUS).macro() == {"x": 0.5}
    more = pages({"a/1": 0.6, "b/1": 0.8})
    assert load_table(workspace(tmp_path, {"x": more}), CORPUS).macro() == pytest.approx({"x": 0.7})


def test_a_table_without_pages_has_no_figures(tmp_path: Path) -> None:
    """A table without pages has NaN as its figures. A corpus of segments has no F1 of words."""
    table = load_table(workspace(tmp_path, {"x": [page("a/1")]}), CORPUS)
    assert len(table) == 0
    assert np.isnan(table.macro()["x"])
