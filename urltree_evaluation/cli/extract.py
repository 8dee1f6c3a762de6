"""The command `urltree evaluate extract`: run extractors on the pages of corpora."""

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
    help="Limit of CPU time for a page, in seconds. Time in which the extractor sleeps has its own"
    " limit, which is four times as long.",
)
@options.positive_number(
    "--megabytes",
    MEGABYTES,
    "Limit of memory that a process may use in addition to its memory at the start, in megabytes.",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    work: Path,
    names: tuple[str, ...],
    plugins: tuple[Path, ...],
    corpora: tuple[str, ...],
    sample: int,
    processes: int,
    seconds: float,
    megabytes: int,
) -> None:
    """Run extractors on the corpora in the folder WORK and store the text that they return.

    If a page takes too much time or memory, or crashes the process, it is counted as a failure and
    the run continues. Existing results are kept, unless the corpus, the sample, or the version or
    options of the extractor have changed.
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
