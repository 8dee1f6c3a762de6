"""`urltree evaluate score`: predictions held against gold."""

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
    """Score the predictions in the folder WORK by every metric.

    What has been scored since it was extracted is kept; an interrupted run goes on where it was.
    """
    with options.locked_workspace(work) as workspace, show_progress("score") as progress:
        score_predictions(workspace, corpora=corpora, processes=processes, progress=progress)
