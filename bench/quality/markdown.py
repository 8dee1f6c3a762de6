"""Sections of the quality report as Markdown: results with their limits, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bench.figure import Bar, Measurement
from urltree_evaluation.statistics import bootstrap


@dataclass(frozen=True, slots=True)
class QualityResult:
    """A section of the report.

    Attributes:
        title: heading of the section.
        method: pages and method of the measurement, in one or two lines.
        figures: results with their limits.
        tables: tables as Markdown.
    """

    title: str
    method: str
    figures: Sequence[Measurement] = ()
    tables: Sequence[str] = field(default=())

    def __str__(self) -> str:
        parts = [f"## {self.title}", self.method]
        if self.figures:
            parts.append(_figures(self.figures))
        return "\n\n".join([*parts, *self.tables]) + "\n"

    @property
    def missed(self) -> list[str]:
        """The names of the results that miss their limits."""
        return [figure.name for figure in self.figures if figure.is_missed]


def at_least(limit: float) -> Bar:
    """Return a limit that a value must reach."""
    return Bar(limit, is_floor=True)


def at_most(limit: float) -> Bar:
    """Return a limit that a value must not exceed."""
    return Bar(limit, is_floor=False)


def four_digits(value: float) -> str:
    """Format an F1 with four digits, which is one digit more than the limits have."""
    return f"{value:.4f}"


def format_signed(value: float) -> str:
    """Format a difference with its sign, and without a negative zero."""
    return f"{round(value, 4) + 0.0:+.4f}"


def format_interval(figure: bootstrap.Estimate, *, is_difference: bool = False) -> str:
    """Format the interval that contains 95 % of the resamples."""
    shown = format_signed if is_difference else four_digits
    return f"{shown(figure.low)} … {shown(figure.high)}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as Markdown; all columns except the first are aligned to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *(map(str, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figures(figures: Iterable[Measurement]) -> str:
    lines = [["figure", "measured", "bar", "", ""], ["---"] * 5]
    for each in figures:
        verdict = "" if each.bar is None else "**missed**" if each.is_missed else "holds"
        measured = format_signed(each.value) if each.unit == DIFFERENCE else four_digits(each.value)
        lines.append([each.name, measured, str(each.bar or ""), verdict, each.note])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


DIFFERENCE = "difference"  # unit of a result that has a sign
