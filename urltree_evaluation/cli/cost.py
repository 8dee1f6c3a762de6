"""The command `urltree evaluate cost`: measure CPU time and memory of extractors."""

from __future__ import annotations

from pathlib import Path

import click

from urltree_evaluation.cli import options
from urltree_evaluation.costs.costing import OF_PAGES, OF_STREAM, PASSES, measure_costs
from urltree_evaluation.progress import show_progress

_MIB = 1 << 20


@click.command()
@options.work_argument
@options.selection_options
@options.positive_number(
    "--of-stream", OF_STREAM, "Number of documents to measure in each part of a stream."
)
@options.positive_number(
    "--of-pages", OF_PAGES, "Number of documents to measure in each corpus of single pages."
)
@options.positive_number(
    "--passes",
    PASSES,
    "How often each document is measured. The median of the measurements is used.",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    work: Path,
    names: tuple[str, ...],
    plugins: tuple[Path, ...],
    corpora: tuple[str, ...],
    of_stream: int,
    of_pages: int,
    passes: int,
) -> None:
    """Measure the CPU time and memory of extractors on a few documents of the folder WORK.

    One process gives each document to all extractors in turn. CPU time is reported as a multiple of
    the time that lxml needs to parse the same documents. Peak memory is read from the results of
    `extract`.
    """
    with options.locked_workspace(work) as workspace:
        extractors = options.chosen_extractors(names, plugins)
        with show_progress("cost") as progress:
            found = measure_costs(
                workspace,
                extractors,
                corpora=corpora,
                of_stream=of_stream,
                of_pages=of_pages,
                passes=passes,
                progress=progress,
            )
    click.echo(f"a bare parse of {found.documents:,} documents: {found.seconds:.2f} s of CPU")
    for name, each in sorted(found.extractors.items(), key=lambda pair: pair[1].ratio):
        memory = (
            "" if each.peak_memory is None else f", peak memory {each.peak_memory / _MIB:,.0f} MiB"
        )
        left_out = f", documents left out {len(each.left_out):,}" if each.left_out else ""
        click.echo(f"{name}: {each.ratio:.1f} times the bare parse{memory}{left_out}")
    for name in sorted(extractors.keys() - found.extractors.keys()):
        click.echo(f"{name}: not measured: it failed on all documents, or WORK has no stream")
