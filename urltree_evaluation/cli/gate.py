"""The command `urltree evaluate gate`: fail if the quality of our heuristics has fallen.

Exit codes:

    0    no F1 value is below its floor, or --lower has replaced the floors
    1    a value is below its floor, a heuristic has no floor, or a worker process was killed;
         nothing is written
    2    wrong usage, no streams, a page that cannot be processed, no floors, or floors that belong
         to another corpus
    130  interrupted by Ctrl-C; nothing is written
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from urltree.page import PageError
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.gate.floors import (
    FIGURES,
    SHIPPED,
    Floors,
    FloorsError,
    GateFigures,
    round_down,
)
from urltree_evaluation.gate.measuring import EVERY, Streams, measure_heuristics
from urltree_evaluation.pool import PoolError
from urltree_evaluation.progress import show_progress

_STREAMS = Path("../shared/data/streams")
_FELL = 1
_INTERRUPTED = 130  # 128 + SIGINT, like shells
_METRICS = [name for name in FIGURES if not name.startswith("masked")]


@click.command()
@click.argument("streams", type=click.Path(path_type=Path), default=_STREAMS)
@click.option(
    "--floors",
    "file",
    type=click.Path(path_type=Path),
    help="YAML file with the floors. By default, the file that is shipped with the package.",
)
@click.option(
    "--raise",
    "raise_",
    is_flag=True,
    help="Raise the floors to the measured values, if none of them is below its floor.",
)
@click.option(
    "--lower",
    is_flag=True,
    help="Set all floors to the measured values, even those that become lower. Requires --reason.",
)
@click.option(
    "--reason", help="Why the floors may be lowered. This text is stored in the file of the floors."
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    default=2,
    show_default=True,
    help="Number of processes. Each of them measures one stream at a time.",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    streams: Path,
    file: Path | None,
    raise_: bool,
    lower: bool,
    reason: str | None,
    processes: int,
) -> None:
    """Compare the F1 of our heuristics on STREAMS with the stored minimum values ("floors").

    STREAMS is a folder of DOMAIN.jsonl.zst files. Every 10th page is scored twice: unchanged, and
    masked. A masked page has other host names, other class names, other ids and no title. If a
    heuristic is worse on masked pages, then it was tuned to the names that these sites use.
    """
    if lower != bool(reason and reason.strip()):
        raise click.UsageError("--lower and --reason require each other: pass both or neither.")
    if lower and raise_:
        raise click.UsageError("--lower includes --raise: pass only one of them.")
    file = file or SHIPPED
    try:
        found = Streams.of(streams)
        floors = _floors(file, found.corpus, may_begin=raise_, may_change=lower)
        with show_progress("gate") as progress:
            measured = measure_heuristics(found, processes, progress)
    except (CorpusError, FloorsError, PageError) as error:
        raise click.UsageError(str(error)) from None
    except PoolError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    floors = floors or Floors(found.corpus, 0, {}, {})
    for line in _table(floors, measured):
        click.echo(line)
    sys.exit(_decide(floors, measured, file, raise_=raise_, reason=reason))


def _floors(file: Path, corpus: str, *, may_begin: bool, may_change: bool) -> Floors | None:
    """Return the floors of a file; None if the file does not exist and `may_begin` is true."""
    if not file.exists() and may_begin:
        return None
    floors = Floors.read(file)
    if floors.corpus != corpus and not may_change:
        raise FloorsError(
            f"the floors belong to another corpus\n  floors   {floors.corpus} ({file})\n"
            f"  streams  {corpus}\nTo replace them by floors of these streams, pass"
            " --lower --reason TEXT."
        )
    return floors


def _decide(
    floors: Floors, measured: GateFigures, file: Path, *, raise_: bool, reason: str | None
) -> int:
    """Print the values that fell, write floors if an option asks for it, return the exit code."""
    if floors.corpus == measured.corpus:
        for line in _falls(floors, measured):
            click.echo(line)
    fell = bool(floors.falls(measured))
    if reason:
        new = floors.lowered_to(measured, reason)
        new.write(file)
        click.echo(f"floors written, {len(new.lowered) - len(floors.lowered)} lowered: {file}")
    elif fell:
        click.echo(
            "floors not written: to lower them, pass --lower --reason TEXT"
            if raise_
            else "failed: values are below their floors"
        )
        return _FELL
    elif raise_:
        floors.raised(measured).write(file)
        click.echo(f"floors written: {file}")
    elif missing := floors.without_floor(measured):
        click.echo(f"no floor for {', '.join(missing)}: pass --raise to write one")
        return _FELL
    else:
        click.echo("passed: no value is below its floor")
    return 0


def _table(floors: Floors, measured: GateFigures) -> Iterator[str]:
    """Yield the lines of a table: each F1 value, unchanged and masked, beside its floor."""
    sites = len({site for found in measured.sites.values() for site in found})
    yield f"macro F1 of {sites} sites, every {EVERY}th page, {measured.pages:,} scored"
    if floors.corpus != measured.corpus:
        yield "the floors belong to another corpus: do not compare them with these values"
    for metric in _METRICS:
        yield ""
        yield f"{metric:<25}{'plain':>9}{'floor':>9}{'masked':>9}{'floor':>9}{'difference':>12}"
        for name, figures in measured.macro().items():
            floor = floors.floors.get(name, {})
            masked = f"masked {metric}"
            difference = figures[masked] - figures[metric]
            yield (
                f"  {name:<23}{round_down(figures[metric]):9.4f}{_number(floor.get(metric))}"
                f"{round_down(figures[masked]):9.4f}{_number(floor.get(masked))}"
                f"{difference:+12.6f}"
            )
    yield ""


def _falls(floors: Floors, measured: GateFigures) -> Iterator[str]:
    """Yield a line for each value below its floor, and lines for the sites where the value fell."""
    for fall in floors.falls(measured):
        change = _change(fall.floor, fall.now)
        what = f"{fall.heuristic}, {fall.figure}"
        yield f"below its floor: {what}: {fall.now:.4f}, floor {fall.floor:.4f}{change}"
        for site, before, now in floors.site_falls(measured, fall):
            yield f"  {site:<30} {now:.4f}, was {before:.4f}{_change(before, now)}"


def _change(before: float, now: float) -> str:
    return f" ({now - before:+.4f})"


def _number(floor: float | None) -> str:
    return f"{'none':>9}" if floor is None else f"{floor:9.4f}"
