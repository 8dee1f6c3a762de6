"""A chart of dots with whiskers: the F1 of each extractor with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from urltree_evaluation.report.drawing import draw_grid, new_figure, plot_settings
from urltree_evaluation.report.groups import STYLES, Group
from urltree_evaluation.report.sanitizing import sanitize


class Dot(NamedTuple):
    """One extractor's F1 with its 95 % interval."""

    name: str
    group: Group
    value: float
    low: float
    high: float


def ranking_chart(dots: Sequence[Dot], measure: str) -> Figure:
    """Draw a row for each extractor, from top to bottom in the order of `dots`."""
    with plot_settings():
        figure = new_figure(8.6, 0.95 + 0.235 * len(dots))
        axes = figure.subplots()
        for row, dot in enumerate(dots):
            look = STYLES[dot.group]
            axes.plot([dot.low, dot.high], [row, row], color=look.color, linewidth=1.3)
            axes.plot(
                dot.value, row, look.marker, color=look.color, markerfacecolor=look.face,
                markersize=5.5,
            )  # fmt: skip
            axes.text(1.01, row, f"{dot.value:.3f}", transform=axes.get_yaxis_transform(),
                      va="center", fontsize=8.5)  # fmt: skip
        axes.set_yticks(range(len(dots)), [sanitize(dot.name) for dot in dots])
        axes.set_ylim(len(dots) - 0.4, -0.6)
        axes.set_xlabel(f"{measure} (0 to 1); whiskers: 95 % bootstrap interval")
        axes.set_ylabel("extractor")
        axes.tick_params(axis="y", length=0)
        draw_grid(axes, "both")
        _legend(figure, [dot.group for dot in dots])
    return figure


def _legend(figure: Figure, groups: Sequence[Group]) -> None:
    """Draw the meaning of the markers above the axes."""
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, markerfacecolor=look.face, label=group)
        for group, look in STYLES.items()
        if group in groups
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
