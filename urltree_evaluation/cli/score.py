"""The command `urltree evaluate score`: compare the extracted text with the gold text."""

from __future__ import annotations

from pathlib import Path

import click

from urltree_evaluation.cli import options
from urltree_evaluation.progress import show_progress
from urltree_evaluation.scoring import score_predictions


@click.command()
@options.work_argument
@options.corpora_option
@options.processes_option
def command(work: Path, corpora: tuple[str, ...], processes: int) -> None:
    """Compute all metrics for the extracted text in the folder WORK.

    Scores that are newer than the extracted text are kept, unless the metrics have changed. To
    continue an interrupted run, run the same command again.
    """
    with options.locked_workspace(work) as workspace, show_progress("score") as progress:
        score_predictions(workspace, corpora=corpora, processes=processes, progress=progress)
