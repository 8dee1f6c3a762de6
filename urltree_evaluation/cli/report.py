"""The command `urltree evaluate report`: write all results as a page and as tables."""

from __future__ import annotations

from pathlib import Path

import click

from urltree_evaluation.cli import options
from urltree_evaluation.progress import show_progress
from urltree_evaluation.report import write_report
from urltree_evaluation.report.worst_documents import WORST
from urltree_evaluation.workspace import Workspace


@click.command()
@options.work_argument
@click.option(
    "--worst",
    type=click.IntRange(min=0),
    default=WORST,
    show_default=True,
    metavar="N",
    help="Number of documents that the error analysis shows for each extractor.",
)
def command(work: Path, worst: int) -> None:
    """Write WORK/report: the page index.html, and its tables as report.md and CSV files.

    The page is self-contained: it needs no script, no other file and no network.
    """
    with options.errors_as_messages(), show_progress("report") as progress:
        file = write_report(Workspace(work), documents=worst, progress=progress)
    click.echo(file)
