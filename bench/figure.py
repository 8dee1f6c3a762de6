"""A figure that was measured, and the table of all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure should be (issue 3, rows 10 and 11)."""

    limit: float
    is_floor: bool

    def __str__(self) -> str:
        return f"{'≥' if self.is_floor else '≤'} {self.limit:g}"

    def is_cleared(self, value: float) -> bool:
        """Whether a value is as it should be."""
        return value >= self.limit if self.is_floor else value <= self.limit


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        spread: the lowest and the highest of all rounds, empty where there is one round only.
        note: what exactly was measured.
        bar: None where nothing is asked of it.
    """

    name: str
    value: float
    unit: str
    spread: str = ""
    note: str = ""
    bar: Bar | None = None

    @property
    def is_missed(self) -> bool:
        """Whether it should be otherwise."""
        return self.bar is not None and not self.bar.is_cleared(self.value)


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one measurement.

    Attributes:
        method: what was measured on which pages, in a line or two.
    """

    title: str
    method: str
    figures: Sequence[Figure]


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(values: Iterable[float]) -> str:
    """Lowest, median and highest of several rounds."""
    ordered = sorted(values)
    middle = median(ordered)
    return f"{number(ordered[0])} … {number(middle)} … {number(ordered[-1])}"


def show(section: Section) -> None:
    """Print a section: a table in a terminal, else a line of text for each figure."""
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


def _print_lines(section: Section) -> None:
    print(f"\n{section.title}\n{section.method}")
    for figure in section.figures:
        name, value, unit, rounds, bar, note = _cells(figure)
        more = "; ".join(part for part in (rounds and f"rounds {rounds}", bar, note) if part)
        print(f"  {name:<34}{value:>9} {unit}" + (f"  ({more})" if more else ""), flush=True)


def _cells(figure: Figure) -> tuple[str, ...]:
    bar = ""
    if figure.bar is not None:
        bar = f"{figure.bar} {'MISSED' if figure.is_missed else 'holds'}"
    return (figure.name, number(figure.value), figure.unit, figure.spread, bar, figure.note)
