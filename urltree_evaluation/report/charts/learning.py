"""Learning curves: F1 by the number of the document in its domain, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from urltree_evaluation.report.drawing import draw_grid, new_figure, plot_settings
from urltree_evaluation.report.groups import Group, curve_style
from urltree_evaluation.report.sanitizing import sanitize

_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class PlottedCurve(NamedTuple):
    """An extractor's F1 by document number."""

    name: str
    group: Group
    numbers: Sequence[float]
    values: Sequence[float]


def learning_chart(lines: Sequence[PlottedCurve], measure: str) -> Figure:
    """Draw all curves in one panel; the legend lists the curves by their last values."""
    with plot_settings():
        figure = new_figure(9.6, 4.4)
        axes = figure.subplots()
        _draw(axes, lines)
        axes.set_xlabel("documents of a domain (logarithmic)")
        axes.set_ylabel(measure)
        handles, labels = axes.get_legend_handles_labels()
        order = sorted(range(len(lines)), key=lambda at: -lines[at].values[-1])
        figure.legend(
            [handles[at] for at in order], [labels[at] for at in order],
            loc="outside right center", handlelength=3.2, labelspacing=0.7,
        )  # fmt: skip
    return figure


def learning_chart_by_domain(
    panels: Mapping[str, Sequence[PlottedCurve]], measure: str, columns: int = 5
) -> Figure:
    """Draw a panel for each domain, all on the same scale."""
    rows = -(-len(panels) // columns)
    with plot_settings():
        figure = new_figure(10.2, 1.0 + 1.35 * rows)
        grids = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        named: dict[str, Artist] = {}
        for axes in grids.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, (domain, lines) in zip(grids.flat, panels.items(), strict=False):
            _draw(axes, lines, markers=False)
            axes.set_title(sanitize(domain), fontsize=8, pad=3)
            handles, labels = axes.get_legend_handles_labels()
            named |= dict(zip(labels, handles, strict=True))
        lowest = min(min(line.values) for lines in panels.values() for line in lines)
        grids[0, 0].set_ylim(bottom=max(0, lowest - 0.03))
        longest = max(line.numbers[-1] for lines in panels.values() for line in lines)
        _logarithmic(grids[0, 0], longest, (1, 10, 100, 1000))
        for axes in [*grids[-1], *grids[-2:-1, len(panels) % columns or columns :].flat]:
            axes.tick_params(labelbottom=True)
        figure.legend(list(named.values()), list(named), loc="outside upper center", ncols=3)
        figure.supxlabel("documents of the domain (logarithmic)", fontsize=9)
        figure.supylabel(measure, fontsize=9)
    return figure


def _draw(axes: Axes, lines: Sequence[PlottedCurve], *, markers: bool = True) -> None:
    counts: dict[Group, int] = {}
    for total, line in enumerate(lines):
        number = counts[line.group] = counts.get(line.group, -1) + 1
        look = curve_style(line.group, number, total)
        look |= {"markevery": 3} if markers else {"marker": ""}
        axes.plot(line.numbers, line.values, label=f"{sanitize(line.name)} ({line.group})", **look)
    _logarithmic(axes, max((line.numbers[-1] for line in lines), default=1), _TICKS)
    axes.set_ylim(top=1.02)
    draw_grid(axes, "both")


def _logarithmic(axes: Axes, last: float, ticks: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= last]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
