"""Fuzz what reads bytes of strangers: `python -m tests.fuzz NUMBER`, or `make fuzz N=NUMBER`."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import click

from tests.fuzz.fuzzing import TARGETS, Failure, Tally, make_quiet, problem_of, run, seconds_of
from tests.fuzz.growth import FAMILIES, growth_of

_SAVED = Path("fuzz-failures")


@click.command()
@click.argument("number", type=click.IntRange(0), default=100_000)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True)
@click.option("--target", "names", multiple=True, type=click.Choice(list(TARGETS)))
@click.option("--replay", metavar="TARGET:SEED:INDEX", help="Run one input, and print it.")
def main(
    *, number: int, seed: int, processes: int, names: tuple[str, ...], replay: str | None
) -> None:
    """Run NUMBER mutated inputs over all targets, then inputs that grow.

    The exit code is 1 if an input raises an unexpected error, ends its process or takes too long.
    Such inputs are saved in fuzz-failures; copied to tests/fuzz/regressions, they are a test.
    """
    make_quiet()
    if replay is not None:
        name, *numbers = replay.split(":")
        data = TARGETS[name].make(Random(), *map(int, numbers))
        problem = problem_of(TARGETS[name], data)
        click.echo(f"{data!r}\n{problem or f'{seconds_of(TARGETS[name], data) * 1e3:.1f} ms'}")
        sys.exit(1 if problem else 0)
    chosen = list(names or TARGETS)
    tallies = run(chosen, number, seed, processes) if number else {}
    _show(tallies, seed)
    failures = [failure for tally in tallies.values() for failure in tally.failures.values()]
    for failure in failures:
        click.echo(f"FAILED {failure}, saved as {_save(failure)}")
    grows = 0
    for family in FAMILIES:
        if family.target in chosen:
            growth = growth_of(family)
            grows += growth.is_too_fast
            click.echo(f"{'FAILED ' if growth.is_too_fast else ''}{growth}")
    done = sum(tally.inputs for tally in tallies.values())
    click.echo(f"{done:,} inputs, seed {seed}: {len(failures)} failures, {grows} grow too fast")
    sys.exit(1 if failures or grows else 0)


def _show(tallies: dict[str, Tally], seed: int) -> None:
    click.echo(f"{'target':<18}{'inputs':>11}{'inputs/s':>10}  slowest input, seed {seed}")
    for name, tally in tallies.items():
        rate = tally.inputs / tally.seconds if tally.seconds else 0
        random, slowest = Random(), (0.0, 0, 0)
        for timed in tally.slowest:  # again, because a busy machine makes any input slow
            data = TARGETS[name].make(random, seed, timed.index)
            slowest = max(slowest, (seconds_of(TARGETS[name], data), timed.index, len(data)))
        seconds, index, size = slowest
        click.echo(
            f"{name:<18}{tally.inputs:>11,}{rate:>10,.0f}  "
            f"{seconds * 1e3:.2f} ms: index {index}, {size:,} bytes"
        )


def _save(failure: Failure) -> Path:
    _SAVED.mkdir(exist_ok=True)
    path = _SAVED / f"{failure.target}--{failure.seed}-{failure.index}"
    path.write_bytes(TARGETS[failure.target].make(Random(), failure.seed, failure.index))
    return path


if __name__ == "__main__":
    main()
