"""Tests of scoring: metrics and boundary cases of one page, then the files of scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from urltree.cli import main
from urltree_evaluation.corpus import Corpus, CorpusPage
from urltree_evaluation.metrics.overlap import ALL, NOTHING
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.page_score import score_page
from urltree_evaluation.prediction import Failure, Prediction, Run
from urltree_evaluation.progress import Progress
from urltree_evaluation.score import Boundary, Segments
from urltree_evaluation.scoring import score_predictions
from urltree_evaluation.workspace import Workspace, WorkspaceError, write_lines

GOLD = "A Title\nand the text below it."


def page(name: str = "1", gold: str | None = GOLD, title: str | None = "A title!") -> CorpusPage:
    """Return a page; its default gold begins with its default title."""
    return CorpusPage(name, "", "example.org", "<p>", title=title, gold=gold)


def said(
    text: str, failure: Failure | None = None, name: str = "1", *, is_sampled: bool = True
) -> Prediction:
    """Return a prediction with this text, failure and page id."""
    return Prediction(name, 1, is_sampled, text, failure)


def test_the_gold_itself_is_worth_one_in_every_metric() -> None:
    """A sampled page has all metrics, and the gold itself scores 1 in each of them."""
    found = score_page(PageGold(page()), said(GOLD))
    assert set(found.metrics) == {
        "words",
        "words+title",
        "words-ascii",
        "matcher",
        "bag",
        "characters",
        "shingles",
    }
    assert set(found.metrics.values()) == {ALL}
    assert found.boundary is None


def test_a_page_that_is_not_sampled_has_the_words_alone() -> None:
    """A page that is not sampled has only the metrics of words.

    This saves time on long streams, because learning curves need only these metrics.
    """
    found = score_page(PageGold(page()), said(GOLD, is_sampled=False))
    assert list(found.metrics) == ["words", "words+title"]


@pytest.mark.parametrize(
    ("text", "is_helped"),
    [
        pytest.param("and the text below it", True, id="no title"),
        pytest.param("a title: and the text below it", False, id="begins with it, by words"),
        pytest.param("", False, id="no output to prepend it to"),
    ],
)
def test_the_title_goes_before_what_does_not_begin_with_it(text: str, *, is_helped: bool) -> None:
    """In the metric words+title, the title is put before a text that does not begin with it.

    Gold begins with the title, and some tools return the title separately.
    """
    metrics = score_page(PageGold(page()), said(text)).metrics
    assert (metrics["words+title"].f1 > metrics["words"].f1) == is_helped
    if is_helped:
        assert metrics["words+title"] == ALL


@pytest.mark.parametrize("title", [None, "", "…"])
def test_without_a_title_both_are_the_same(title: str | None) -> None:
    """Without a title, the metrics words and words+title are equal.

    Most published corpora have no titles.
    """
    metrics = score_page(PageGold(page(title=title)), said("and the text")).metrics
    assert metrics["words+title"] == metrics["words"]


@pytest.mark.parametrize(
    ("gold", "text", "failure", "case"),
    [
        ("", " ", None, "both empty"),
        ("…", "text", None, "empty gold"),
        (GOLD, "", None, "empty result"),
        (GOLD, "something else", None, "no overlap"),
        (GOLD, "", "exception", "exception"),
        (GOLD, "", "time", "time"),
        (GOLD, "", "memory", "memory"),
        ("", "", "crash", "crash"),
    ],
)
def test_boundary_cases_are_told_by_kind(
    gold: str, text: str, failure: Failure | None, case: Boundary
) -> None:
    """Each boundary case is recorded by its kind.

    In the metric words, "both empty" scores 1, and all other cases score 0, even a failure on an
    empty gold.
    """
    found = score_page(PageGold(page(gold=gold)), said(text, failure))
    assert found.boundary == case
    assert found.metrics["words"] == (ALL if case == "both empty" else NOTHING)


def test_a_duplicate_is_not_scored() -> None:
    """A duplicate has no score, because its text was returned under another id."""
    found = score_page(PageGold(page()), said("", "duplicate"))
    assert found.is_duplicate
    assert (found.metrics, found.segments, found.boundary) == ({}, None, None)


def test_gold_of_segments_has_counts_alone() -> None:
    """A page with gold of segments has only counts of segments, because its gold has no full text.

    Failures and empty results are recorded as well.
    """
    segmented = CorpusPage("1", "", "", "", gold_with=("Body text",), gold_without=("Menu",))
    found = score_page(PageGold(segmented), said("Menu Body\ntext"))
    assert (found.segments, found.metrics, found.boundary) == (Segments(1, 0, 1, 0), {}, None)
    failed = score_page(PageGold(segmented), said("", "time"))
    assert (failed.segments, failed.boundary) == (Segments(0, 1, 0, 1), "time")
    assert score_page(PageGold(segmented), said("")).boundary == "empty result"


def test_a_page_without_gold_has_no_figures() -> None:
    """A page without gold has no scores, because an extractor only learns from it."""
    found = score_page(PageGold(page(gold=None)), said(""))
    assert (found.metrics, found.segments, found.boundary) == ({}, None, None)


def workspace(folder: Path, predictions: Mapping[str, Sequence[Prediction]]) -> Workspace:
    """Write a corpus of three pages in two parts, with the predictions of each extractor."""
    made = Workspace(folder)
    parts = {"one.example": [page("1"), page("2")], "two.example": [page("3")]}
    for part, pages in parts.items():
        write_lines(made.pages_file("tiny", part), pages)
    corpus = Corpus("tiny", "stream", {part: len(p) for part, p in parts.items()}, "0" * 64)
    (folder / "corpora/tiny/corpus.json").write_bytes(orjson.dumps(corpus))
    for name, given in predictions.items():
        for part, pages in parts.items():
            ids = {page.id for page in pages}
            of_part = [prediction for prediction in given if prediction.id in ids]
            write_lines(made.predictions_file("tiny", name, part), of_part)
        run = Run(name, "", "1", is_stream=False, corpus_sha256=corpus.sha256, sample=None)
        (folder / f"predictions/tiny/{name}/run.json").write_bytes(orjson.dumps(run))
    return made


THREE = [said(GOLD, name="1"), said("", name="2"), said(GOLD, name="3")]


@pytest.mark.parametrize("processes", [1, 2])
def test_files_of_scores_come_from_files_of_predictions(tmp_path: Path, processes: int) -> None:
    """Scores are in the order of the predictions, with one process or two."""
    made = workspace(tmp_path, {"perfect": THREE, "silent": [said("", name="3")]})
    progress = Progress()
    score_predictions(made, processes=processes, progress=progress)
    assert [found.metrics["words"].f1 for found in made.scores("tiny", "perfect")] == [1, 0, 1]
    assert [found.id for found in made.scores("tiny", "silent")] == ["3"]
    assert progress.documents == progress.total == 6


def test_what_is_scored_is_kept_until_its_predictions_change(tmp_path: Path) -> None:
    """Scores are kept until the file of their predictions changes.

    An interrupted run continues with the missing files.
    """
    made = workspace(tmp_path, {"perfect": THREE})
    assert score_predictions(made) > 0
    assert score_predictions(made) == 0
    one = made.predictions_file("tiny", "perfect", "one.example")
    write_lines(one, [said("a title", name="1"), said("", name="2")])
    os.utime(one, ns=(4 * 10**18, 4 * 10**18))  # later than the files of scores
    kept = made.scores_file("tiny", "perfect", "two.example")
    before = kept.stat().st_mtime_ns
    score_predictions(made)
    assert kept.stat().st_mtime_ns == before
    assert next(made.scores("tiny", "perfect")).metrics["words"].f1 < 1


def test_scores_whose_predictions_are_gone_go_too(tmp_path: Path) -> None:
    """Scores whose predictions were deleted are deleted, too."""
    made = workspace(tmp_path, {"perfect": THREE})
    score_predictions(made)
    made.predictions_file("tiny", "perfect", "one.example").unlink()
    score_predictions(made)
    assert [found.id for found in made.scores("tiny", "perfect")] == ["3"]


def test_predictions_of_another_corpus_are_not_scored(tmp_path: Path) -> None:
    """Predictions of an older version of a corpus are not scored, and their scores are deleted.

    This happens if an extractor was not run again after a new conversion.
    """
    made = workspace(tmp_path, {"kept": THREE, "old": THREE})
    score_predictions(made)
    old = Run("old", "", "1", is_stream=False, corpus_sha256="1" * 64, sample=None)
    (tmp_path / "predictions/tiny/old/run.json").write_bytes(orjson.dumps(old))
    score_predictions(made)
    assert list(made.scores("tiny", "old")) == []
    assert len(list(made.scores("tiny", "kept"))) == 3


def test_scores_by_other_metrics_are_made_anew(tmp_path: Path) -> None:
    """Scores by another version of the metrics are replaced, so that no table mixes two versions.

    Temporary files are deleted.
    """
    made = workspace(tmp_path, {"perfect": THREE})
    score_predictions(made)
    unfinished = made.scores_file("tiny", "perfect", "one.example").with_name(".one.example.1")
    unfinished.touch()
    assert score_predictions(made) == 0
    assert not unfinished.exists()
    (tmp_path / "scores" / ".metrics").write_text("of another version")
    assert score_predictions(made) == 3


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    """If another run is writing to the work folder, the second run fails immediately."""
    made = workspace(tmp_path, {"perfect": THREE})
    command = ["evaluate", "score", str(tmp_path), "--processes", "1"]
    with made.locked():
        ran = CliRunner().invoke(main, command)
    assert ran.exit_code == 1
    assert f"Error: {tmp_path}: another run is writing to this folder: wait" in ran.stderr
    assert CliRunner().invoke(main, command).exit_code == 0


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """A damaged file is an error with the path of the file."""
    made = workspace(tmp_path, {"perfect": THREE})
    file = made.predictions_file("tiny", "perfect", "two.example")
    file.write_bytes(b"no zstd")
    with pytest.raises(WorkspaceError, match=r"two\.example\.jsonl\.zst is damaged"):
        score_predictions(made)


def test_the_verb_scores_and_says_how_many(tmp_path: Path) -> None:
    """The command scores all predictions, and writes its progress to stderr."""
    made = workspace(tmp_path, {"perfect": THREE})
    ran = CliRunner().invoke(main, ["evaluate", "score", str(tmp_path), "--processes", "1"])
    assert ran.exit_code == 0, ran.output
    assert "score: 3 of 3 documents" in ran.stderr
    assert len(list(made.scores("tiny", "perfect"))) == 3


def test_the_verb_names_the_verb_that_comes_before(tmp_path: Path) -> None:
    """Without predictions, the error names the command to run first, `extract`."""
    workspace(tmp_path, {})
    ran = CliRunner().invoke(main, ["evaluate", "score", str(tmp_path)])
    assert ran.exit_code == 1
    assert "has no predictions: run `urltree evaluate extract` first" in ran.stderr
