"""Dots and whiskers: F1 of each extractor with its ±, the best on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from urltree_evaluation.report.drawing import grid, new_figure, style
from urltree_evaluation.report.inert import inert
from urltree_evaluation.report.look import LOOKS, Sort


class Dot(NamedTuple):
    """One extractor's figure with its 95 % interval."""

    name: str
    sort: Sort
    value: float
    low: float
    high: float


def ranking(dots: Sequence[Dot], measure: str) -> Figure:
    """A row for each extractor, in the order given."""
    with style():
        figure = new_figure(8.6, 0.95 + 0.235 * len(dots))
        axes = figure.subplots()
        for row, dot in enumerate(dots):
            look = LOOKS[dot.sort]
            axes.plot([dot.low, dot.high], [row, row], color=look.color, linewidth=1.3)
            axes.plot(
                dot.value, row, look.marker, color=look.color, markerfacecolor=look.face,
                markersize=5.5,
            )  # fmt: skip
            axes.text(1.01, row, f"{dot.value:.3f}", transform=axes.get_yaxis_transform(),
                      va="center", fontsize=8.5)  # fmt: skip
        axes.set_yticks(range(len(dots)), [inert(dot.name) for dot in dots])
        axes.set_ylim(len(dots) - 0.4, -0.6)
        axes.set_xlabel(f"{measure} (0 to 1); whiskers: 95 % bootstrap interval")
        axes.set_ylabel("extractor")
        axes.tick_params(axis="y", length=0)
        grid(axes, "both")
        _legend(figure, [dot.sort for dot in dots])
    return figure


def _legend(figure: Figure, sorts: Sequence[Sort]) -> None:
    """The markers' meaning, above the axes."""
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, markerfacecolor=look.face, label=sort)
        for sort, look in LOOKS.items()
        if sort in sorts
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
