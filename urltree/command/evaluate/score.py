"""`urltree evaluate score`: predictions held against gold."""

from __future__ import annotations

import os
from pathlib import Path

import click

from urltree.evaluation.progress import shown
from urltree.evaluation.scoring import score
from urltree.evaluation.workspace import Workspace, WorkspaceError


@click.command()
@click.argument("work", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--corpus", "corpora", multiple=True, metavar="NAME", help="Of these corpora alone.")
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="At once.",
)
def command(work: Path, corpora: tuple[str, ...], processes: int) -> None:
    """Score the predictions in the folder WORK by every metric.

    What has been scored since it was extracted is kept; an interrupted run goes on where it was.
    """
    with shown("score") as progress:
        try:
            score(Workspace(work), corpora=corpora, processes=processes, progress=progress)
        except (WorkspaceError, OSError) as error:
            raise click.ClickException(str(error)) from error
