"""The command `urltree evaluate convert`: read corpora of any known format into a work folder."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from urltree_evaluation.cli import options
from urltree_evaluation.converting import convert, load_conversion
from urltree_evaluation.corpora.sources import Form
from urltree_evaluation.corpus import Corpus, CorpusKind
from urltree_evaluation.progress import show_progress
from urltree_evaluation.workspace import Workspace


@click.command()
@options.work_argument
@click.argument("inputs", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
@click.option(
    "--form",
    type=click.Choice(get_args(Form)),
    help="Format of all INPUTS. By default, the format of each input is detected.",
)
@click.option(
    "--kind",
    type=click.Choice(get_args(CorpusKind)),
    help="Kind of all corpora: single pages, or a stream of pages in the order of time. By default,"
    " the kind of each corpus is detected.",
)
@click.option(
    "--name",
    help="Name of the corpus, if INPUTS contain exactly one corpus. By default, each corpus has the"
    " name of its file or folder.",
)
@click.option(
    "--tool",
    help="Name of the program that produced the gold text. A corpus with such gold is reported"
    " separately.",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    work: Path,
    inputs: tuple[Path, ...],
    form: Form | None,
    kind: CorpusKind | None,
    name: str | None,
    tool: str | None,
) -> None:
    """Convert the corpora in INPUTS to the format of the evaluation, in the folder WORK.

    INPUTS are JSON Lines files, folders of such files, or folders in the layout of Kovačič's
    thesis, CleanEval or L3S-GN1. A corpus whose files have not changed is not converted again.
    """
    workspace = Workspace(work)
    with options.errors_as_messages(), workspace.locked(), show_progress("convert") as progress:
        corpora = convert(
            inputs, workspace, form=form, kind=kind, name=name, tool=tool, progress=progress
        )
    for corpus in corpora:
        click.echo(_line(corpus, workspace))


def _line(corpus: Corpus, workspace: Workspace) -> str:
    done = load_conversion(workspace, corpus.name)
    pages, parts = sum(corpus.parts.values()), len(corpus.parts)
    tool = f", gold of {corpus.tool}" if corpus.tool else ""
    return (
        f"{corpus.name}: {corpus.kind}, parts {parts:,}, pages {pages:,}, "
        f"scored {done.scored:,}, bytes {done.html_bytes:,}{tool}"
    )
