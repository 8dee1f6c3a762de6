"""`urltree evaluate convert`: corpora in the forms of the literature into a work folder."""

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
@click.option("--form", type=click.Choice(get_args(Form)), help="What INPUTS are; else found out.")
@click.option(
    "--kind", type=click.Choice(get_args(CorpusKind)), help="Of the corpora; else found out."
)
@click.option("--name", help="Of the one corpus; else its file's.")
@click.option("--tool", help="Whose output the gold is: such corpora are ranked apart.")
def command(  # noqa: PLR0913, PLR0917 - one parameter an option
    work: Path,
    inputs: tuple[Path, ...],
    form: Form | None,
    kind: CorpusKind | None,
    name: str | None,
    tool: str | None,
) -> None:
    """Read the corpora of INPUTS into the folder WORK.

    INPUTS are files of JSON Lines, folders of them, folders in the thesis' layout, CleanEval and
    L3S-GN1. What has not changed since it was converted is not converted again.
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
