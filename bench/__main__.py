"""`python -m bench`: measure state, algorithm, job and feeds; exit 1 where a bar is missed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click

from bench.figure import Section, show
from bench.pages import Pages, load

MEASUREMENTS = ("algorithm", "state", "job", "feeds", "simulation")


@click.command()
@click.argument("what", type=click.Choice(MEASUREMENTS), nargs=-1)
@click.option(
    "--pages",
    "path",
    type=click.Path(exists=True, path_type=Path),
    help="Whatever `urltree extract` reads; a folder has one site in each entry.",
)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
def main(*, what: tuple[str, ...], path: Path | None, rounds: int) -> None:
    """Measure WHAT, everything by default."""
    missed = []
    pages = load(path)
    for name in what or MEASUREMENTS:
        measure: Callable[[Pages, int], Section] = import_module(f"bench.{name}").measure
        section = measure(pages, rounds)
        show(section)
        missed += [figure.name for figure in section.figures if figure.is_missed]
    if missed:
        click.echo(f"bars missed: {', '.join(missed)}", err=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
