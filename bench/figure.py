"""The results of a benchmark, and the table that shows the results."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit that a result must reach (`is_floor`) or must not exceed."""

    limit: float
    is_floor: bool

    def __str__(self) -> str:
        return f"{'≥' if self.is_floor else '≤'} {self.limit:g}"

    def is_cleared(self, value: float) -> bool:
        """Return whether a value is within the limit."""
        return value >= self.limit if self.is_floor else value <= self.limit


@dataclass(frozen=True, slots=True)
class Measurement:
    """One result, which is one line of the table.

    Attributes:
        name: what was measured.
        value: result of the best round.
        unit: unit of the value.
        spread: lowest, median and highest result of all rounds; empty for a single round.
        note: details of the measurement.
        bar: limit for the value; None if there is no limit.
    """

    name: str
    value: float
    unit: str
    spread: str = ""
    note: str = ""
    bar: Bar | None = None

    @property
    def is_missed(self) -> bool:
        """Whether the value misses its limit."""
        return self.bar is not None and not self.bar.is_cleared(self.value)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The results of one benchmark.

    Attributes:
        title: title for the table.
        method: pages and method of the measurement, in one or two lines.
        figures: results, which are the lines of the table.
    """

    title: str
    method: str
    figures: Sequence[Measurement]


def format_number(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def format_spread(values: Iterable[float]) -> str:
    """Format the lowest, median and highest result of several rounds."""
    ordered = sorted(values)
    middle = median(ordered)
    return f"{format_number(ordered[0])} … {format_number(middle)} … {format_number(ordered[-1])}"


def show(section: Benchmark) -> None:
    """Print a benchmark as a table in a terminal; otherwise print a line for each result."""
    if not sys.stdout.isatty():
        _print_lines(section)
        return
    table = Table(title=section.title, caption=section.method, title_justify="left")
    for column in ("", "figure", "unit", "rounds: low … median … high", "bar", "what"):
        table.add_column(column, justify="right" if column == "figure" else "left")
    for figure in section.figures:
        style = "red" if figure.is_missed else ""
        table.add_row(*_cells(figure), style=style)
    Console().print(table)


def _print_lines(section: Benchmark) -> None:
    print(f"\n{section.title}\n{section.method}")
    for figure in section.figures:
        name, value, unit, rounds, bar, note = _cells(figure)
        more = "; ".join(part for part in (rounds and f"rounds {rounds}", bar, note) if part)
        print(f"  {name:<34}{value:>9} {unit}" + (f"  ({more})" if more else ""), flush=True)


def _cells(figure: Measurement) -> tuple[str, ...]:
    bar = ""
    if figure.bar is not None:
        bar = f"{figure.bar} {'MISSED' if figure.is_missed else 'holds'}"
    return (figure.name, format_number(figure.value), figure.unit, figure.spread, bar, figure.note)
