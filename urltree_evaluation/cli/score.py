"""`urltree evaluate score`: predictions held against gold."""

from __future__ import annotations

from pathlib import Path

import click

from urltree_evaluation.cli import options
from urltree_evaluation.progress import shown
from urltree_evaluation.scoring import score


@click.command()
@options.work
@options.corpora
@options.processes
def command(work: Path, corpora: tuple[str, ...], processes: int) -> None:
    """Score the predictions in the folder WORK by every metric.

    What has been scored since it was extracted is kept; an interrupted run goes on where it was.
    """
    with options.writing(work) as workspace, shown("score") as progress:
        score(workspace, corpora=corpora, processes=processes, progress=progress)
