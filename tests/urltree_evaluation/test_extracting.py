"""Tests of extraction: the pages that extractors get, and when predictions are kept or replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.urltree_evaluation.streamed import (
    CORPUS,
    PART,
    Counting,
    predicted,
    single,
    stream,
    work,
)
from urltree_evaluation.extractors.registry import RegisteredExtractor
from urltree_evaluation.progress import Progress
from urltree_evaluation.running.extracting import run_extractors
from urltree_evaluation.workspace import Workspace, WorkspaceError

same = single("same", str)
counting = stream("counting", Counting)


def files(workspace: Workspace) -> dict[str, int]:
    """Return the time of the last change of each file of predictions, by the path of the file."""
    found = workspace.path.glob("predictions/**/*.zst")
    return {str(file.relative_to(workspace.path)): file.stat().st_mtime_ns for file in found}


def test_a_single_page_extractor_is_given_the_evenly_spaced_pages_of_a_stream(
    tmp_path: Path,
) -> None:
    """The sampled pages are evenly spaced.

    The number of a page is its position in its domain, from 1.
    """
    outcomes = predicted(work(tmp_path, 10), same, sample=4)
    assert [each.text for each in outcomes] == ["0", "2", "5", "7"]
    assert [each.number for each in outcomes] == [1, 3, 6, 8]
    assert all(each.is_sampled for each in outcomes)


def test_a_stream_extractor_is_given_all_pages_in_order(tmp_path: Path) -> None:
    """A stream extractor gets all pages.

    The sampled pages are marked, because rankings use only these.
    """
    outcomes = predicted(work(tmp_path, 10), counting, sample=4)
    assert [each.number for each in outcomes] == list(range(1, 11))
    assert outcomes[9].text == "0 1 2 3 4 5 6 7 8 9"
    assert [each.id for each in outcomes if each.is_sampled] == ["0", "2", "5", "7"]


@pytest.mark.parametrize("extractor", [same, counting])
def test_a_corpus_of_single_pages_is_given_whole(
    extractor: RegisteredExtractor, tmp_path: Path
) -> None:
    """The option `sample` has no effect on a corpus of single pages."""
    outcomes = predicted(work(tmp_path, 10, kind="pages"), extractor, sample=4)
    assert [each.id for each in outcomes if each.is_sampled] == list("0123456789")


def test_pages_without_gold_are_learned_from_and_have_no_outcome(tmp_path: Path) -> None:
    """A stream extractor learns from pages without gold, but has no predictions for them.

    Single-page extractors do not get these pages.
    """
    workspace = work(tmp_path, without_gold=(0, 3))
    assert [each.text for each in predicted(workspace, counting)] == [
        "0 1",
        "0 1 2",
        "0 1 2 3 4",
        "0 1 2 3 4 5",
    ]
    assert [each.text for each in predicted(workspace, same)] == ["1", "2", "4", "5"]


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    """Predictions that exist are kept: a second run makes only missing files."""
    workspace = work(tmp_path)
    assert run_extractors(workspace, {"same": same, "counting": counting}) == 2
    before = files(workspace)
    assert run_extractors(workspace, {"same": same, "counting": counting}) == 0
    workspace.predictions_file(CORPUS, "same", PART).unlink()
    assert run_extractors(workspace, {"same": same, "counting": counting}) == 1
    after = files(workspace)
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == [
        f"predictions/{CORPUS}/same/{PART}.jsonl.zst"
    ]


class Said(Progress):
    """A `Progress` that stores its messages."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        """Store the message."""
        self.lines.append(message)


def another_sample(workspace: Workspace, said: Said) -> int:
    """Run the extractor with a larger sample."""
    return run_extractors(workspace, {"same": same}, sample=3, progress=said)


def another_corpus(workspace: Workspace, said: Said) -> int:
    """Run the extractor on a corpus with the same name and other pages."""
    return run_extractors(work(workspace.path, 7), {"same": same}, sample=2, progress=said)


def another_options(workspace: Workspace, said: Said) -> int:
    """Run an extractor with the same name and other options."""
    told = replace(same, options="tables off")
    return run_extractors(workspace, {"same": told}, sample=2, progress=said)


@pytest.mark.parametrize("change", [another_sample, another_corpus, another_options])
def test_what_is_stale_is_made_anew_and_this_is_said(
    change: Callable[[Workspace, Said], int], tmp_path: Path
) -> None:
    """Outdated predictions and their scores are deleted with a message that names the cause.

    Predictions of other extractors are kept.
    """
    workspace, said = work(tmp_path), Said()
    run_extractors(workspace, {"same": same, "counting": counting}, sample=2)
    scores = workspace.scores_file(CORPUS, "same", PART)
    scores.parent.mkdir(parents=True)
    scores.touch()
    before = files(workspace)
    assert change(workspace, said) == 1
    after = files(workspace)
    assert [name.split("/")[2] for name in before if before[name] != after[name]] == ["same"]
    assert not scores.exists()
    what = change.__name__.removeprefix("another_")
    assert said.lines == [f"deleting predictions of same on {CORPUS}: {what} changed"]


def test_a_corpus_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    """An unknown corpus is an error that lists the available ones, and no extractor is run."""
    with pytest.raises(WorkspaceError, match=r"There is no corpus nowhere\. Available: made-up"):
        run_extractors(work(tmp_path), {"same": same}, corpora=["nowhere"])


def test_several_processes_write_what_one_does(tmp_path: Path) -> None:
    """Extractors that run at the same time write the same predictions as in one process."""
    extractors = {
        f"{kind.name}-{n}": replace(kind, name=f"{kind.name}-{n}")
        for kind in (same, counting)
        for n in range(4)
    }
    one, four = work(tmp_path / "1"), work(tmp_path / "4")
    run_extractors(one, extractors, processes=1)
    run_extractors(four, extractors, processes=4)
    for name in extractors:
        texts = [[each.text for each in w.predictions(CORPUS, name, PART)] for w in (one, four)]
        assert texts[0] == texts[1] != []


def test_progress_counts_every_outcome(tmp_path: Path) -> None:
    """The total of the progress counts only predictions that do not exist yet."""
    progress = Progress()
    run_extractors(
        work(tmp_path), {"same": same, "counting": counting}, sample=2, progress=progress
    )
    assert (progress.documents, progress.total) == (8, 8)
    run_extractors(
        work(tmp_path), {"same": same, "counting": counting}, sample=2, progress=progress
    )
    assert (progress.documents, progress.total) == (0, 0)
