"""What a row of issue 6 is answered with: figures beside their bars, and tables, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bench.figure import Bar, Figure
from urltree_evaluation.statistics import bootstrap


@dataclass(frozen=True, slots=True)
class Answer:
    """A section of the report.

    Attributes:
        method: what was measured on which pages, in a line or two.
        tables: Markdown.
    """

    title: str
    method: str
    figures: Sequence[Figure] = ()
    tables: Sequence[str] = field(default=())

    def __str__(self) -> str:
        parts = [f"## {self.title}", self.method]
        if self.figures:
            parts.append(_figures(self.figures))
        return "\n\n".join([*parts, *self.tables]) + "\n"

    @property
    def missed(self) -> list[str]:
        """Names of the figures that miss their bars."""
        return [figure.name for figure in self.figures if figure.is_missed]


def at_least(limit: float) -> Bar:
    """A bar to be reached."""
    return Bar(limit, is_floor=True)


def at_most(limit: float) -> Bar:
    """A bar not to be passed."""
    return Bar(limit, is_floor=False)


def f1(value: float) -> str:
    """Four digits, for bars are of three."""
    return f"{value:.4f}"


def signed(value: float) -> str:
    """A difference; never minus nothing."""
    return f"{round(value, 4) + 0.0:+.4f}"


def interval(figure: bootstrap.Estimate, *, is_difference: bool = False) -> str:
    """From where to where 95 % of the resamples lie."""
    shown = signed if is_difference else f1
    return f"{shown(figure.low)} … {shown(figure.high)}"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand right, which are all columns but the first."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *(map(str, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figures(figures: Iterable[Figure]) -> str:
    lines = [["figure", "measured", "bar", "", ""], ["---"] * 5]
    for each in figures:
        verdict = "" if each.bar is None else "**missed**" if each.is_missed else "holds"
        measured = signed(each.value) if each.unit == DIFFERENCE else f1(each.value)
        lines.append([each.name, measured, str(each.bar or ""), verdict, each.note])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


DIFFERENCE = "difference"  # the unit of a figure that has a sign
