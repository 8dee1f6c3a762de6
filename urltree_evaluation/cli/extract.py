"""`urltree evaluate extract`: extractors on corpora, in processes that may fail."""

from __future__ import annotations

from pathlib import Path

import click

from urltree_evaluation.cli import options
from urltree_evaluation.progress import show_progress
from urltree_evaluation.running.extracting import run_extractors
from urltree_evaluation.running.watching import MEGABYTES, SECONDS


@click.command()
@options.work_argument
@options.selection_options
@options.sample_option
@options.processes_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=SECONDS,
    show_default=True,
    help="CPU that a page may take; it may sleep four times as many.",
)
@options.positive_number(
    "--megabytes",
    MEGABYTES,
    "Memory that an extractor may take above what its process began with.",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter an option
    work: Path,
    names: tuple[str, ...],
    plugins: tuple[Path, ...],
    corpora: tuple[str, ...],
    sample: int,
    processes: int,
    seconds: float,
    megabytes: int,
) -> None:
    """Run extractors on the corpora in the folder WORK.

    A page that takes too long or too much memory, or that crashes its process, is counted, and
    the run goes on. What is there is kept, unless corpus, version, options or sample changed.
    """
    with options.locked_workspace(work) as workspace:
        extractors = options.chosen_extractors(names, plugins)
        with show_progress("extract") as progress:
            run_extractors(
                workspace,
                extractors,
                corpora=corpora,
                sample=sample,
                processes=processes,
                seconds=seconds,
                megabytes=megabytes,
                progress=progress,
            )
