"""`urltree evaluate report`: what was measured, as a page to be read."""

from __future__ import annotations

from pathlib import Path

import click

from urltree.evaluation.progress import shown
from urltree.evaluation.report import report
from urltree.evaluation.report.errors import WORST
from urltree.evaluation.workspace import Workspace, WorkspaceError


@click.command()
@click.argument("work", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--worst",
    type=click.IntRange(min=0),
    default=WORST,
    show_default=True,
    metavar="N",
    help="Documents in the error analysis of each extractor.",
)
def command(work: Path, worst: int) -> None:
    """Write WORK/report: index.html, and its tables as report.md and CSV files.

    The page needs nothing but itself: no script, no other file, no network.
    """
    with shown("report") as progress:
        try:
            file = report(Workspace(work), documents=worst, progress=progress)
        except (WorkspaceError, OSError) as error:
            raise click.ClickException(str(error)) from error
    click.echo(file)
