"""Quality against cost: F1 by CPU time, as a multiple of a bare parse of the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from urltree_evaluation.report.charts.labels import place_labels
from urltree_evaluation.report.drawing import draw_grid, new_figure, plot_settings
from urltree_evaluation.report.groups import GREY, STYLES, Group
from urltree_evaluation.report.sanitizing import sanitize

_WIDTH, _HEIGHT = 4.9, 9.5  # width of a letter and height of a line at size 8, in points


class Spot(NamedTuple):
    """An extractor's F1 (`value`) and its CPU time as a multiple of the bare parse (`ratio`)."""

    name: str
    group: Group
    ratio: float
    value: float


def cost_chart(spots: Sequence[Spot], measure: str) -> Figure:
    """Draw a point with a name for each extractor; better extractors are higher or farther left."""
    with plot_settings():
        figure = new_figure(9.6, 5.6)
        axes = figure.subplots()
        for spot in spots:
            look = STYLES[spot.group]
            axes.plot(spot.ratio, spot.value, look.marker, color=look.color,
                      markerfacecolor=look.face, markersize=6)  # fmt: skip
        low, high = min(s.value for s in spots), max(s.value for s in spots)
        margin = max(0.01, 0.06 * (high - low))
        axes.set_xscale("log")
        axes.set_xlim(min(s.ratio for s in spots) / 1.5, max(s.ratio for s in spots) * 1.5)
        axes.set_ylim(low - margin, high + margin)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("CPU time, as a multiple of a bare lxml.html parse (logarithmic)")
        axes.set_ylabel(measure)
        draw_grid(axes, "both")
        _name(figure, axes, spots)
    return figure


def _name(figure: Figure, axes: Axes, spots: Sequence[Spot]) -> None:
    """Draw a label near each point, so that labels cover other labels and points rarely."""
    figure.draw_without_rendering()  # computes the position of the axes
    points = axes.transData.transform([(spot.ratio, spot.value) for spot in spots])
    points *= 72 / figure.dpi
    names = [sanitize(spot.name) for spot in spots]
    places = place_labels(
        points, [(_WIDTH * len(name), _HEIGHT) for name in names], _room(axes, figure)
    )
    for spot, name, place in zip(spots, names, places, strict=True):
        axes.annotate(
            name, (spot.ratio, spot.value), (place.dx, place.dy), textcoords="offset points",
            ha=place.align, va="center", fontsize=8, color=STYLES[spot.group].color,
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": GREY}
            if abs(place.dy) > _HEIGHT else None,
        )  # fmt: skip


def _room(axes: Axes, figure: Figure) -> tuple[float, float, float, float]:
    """Return the left, bottom, right and top edges of the axes, in points (1/72 inch)."""
    box, scale = axes.get_window_extent(), 72 / figure.dpi
    return box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale
