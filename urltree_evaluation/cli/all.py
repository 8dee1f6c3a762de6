"""The command `urltree evaluate all`: run every stage, one after the other."""

from __future__ import annotations

from pathlib import Path

import click

from urltree_evaluation.cli import evaluate, options


@click.command()
@click.pass_context
@options.work_argument
@click.argument("inputs", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
@options.selection_options
@options.sample_option
@options.processes_option
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: click.Context,
    work: Path,
    inputs: tuple[Path, ...],
    names: tuple[str, ...],
    plugins: tuple[Path, ...],
    corpora: tuple[str, ...],
    sample: int,
    processes: int,
) -> None:
    """Run all stages on INPUTS: convert, extract, score, cost and report.

    Each INPUT is a file or folder with pages, in a format that `convert` reads. All results are
    written to the folder WORK. If a run is interrupted, run the same command again to continue it.
    To use an option of a single stage, run the stages one by one.
    """
    selection: dict[str, object] = {"names": names, "plugins": plugins, "corpora": corpora}
    stages: dict[str, dict[str, object]] = {
        "convert": {"inputs": inputs},
        "extract": {**selection, "sample": sample, "processes": processes},
        "score": {"corpora": corpora, "processes": processes},
        "cost": selection,
        "report": {},
    }
    for number, (verb, given) in enumerate(stages.items(), 1):
        click.echo(f"\n{number} of {len(stages)}: {verb}", err=True)
        stage = evaluate.get_command(context, verb)
        if stage is None:
            raise click.UsageError(f"There is no subcommand {verb}.")
        with options.errors_as_messages():
            context.invoke(stage, work=work, **given)
