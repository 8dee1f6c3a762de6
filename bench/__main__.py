"""Run the benchmarks: `python -m bench`. The exit code is 1 if a result misses its limit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click

from bench.figure import Benchmark, show
from bench.pages import Pages, load_pages

MEASUREMENTS = ("algorithm", "state", "job", "restore", "feeds", "simulation")


@click.command()
@click.argument("what", type=click.Choice(MEASUREMENTS), nargs=-1)
@click.option(
    "--pages",
    "path",
    type=click.Path(exists=True, path_type=Path),
    help="Input in a format that `urltree extract` reads. In a folder, each file or subfolder is "
    "one site. By default, real sites are used.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Number of times that each measurement is repeated.",
)
def main(*, what: tuple[str, ...], path: Path | None, rounds: int) -> None:
    """Run the benchmarks named WHAT, or all benchmarks if none is named."""
    missed = []
    pages = load_pages(path)
    for name in what or MEASUREMENTS:
        measure: Callable[[Pages, int], Benchmark] = import_module(f"bench.{name}").measure
        section = measure(pages, rounds)
        show(section)
        missed += [figure.name for figure in section.figures if figure.is_missed]
    if missed:
        click.echo(f"results that miss their bar: {', '.join(missed)}", err=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
