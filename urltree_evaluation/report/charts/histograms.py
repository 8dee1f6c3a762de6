"""Histograms of each extractor's documents: 20 bins of precision, recall and F1 (thesis, ch. 6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from urltree_evaluation.report.drawing import draw_grid, new_figure, plot_settings
from urltree_evaluation.report.groups import GREY, STYLES, Group
from urltree_evaluation.report.sanitizing import sanitize

BINS = 20
_MEASURES = ("precision", "recall", "F1")


def histograms(
    values: Mapping[str, NDArray[np.float64]], groups: Mapping[str, Group], columns: int = 2
) -> Figure:
    """Draw three small histograms for each extractor, all on the same scale.

    Args:
        values: precision, recall and F1 of documents, by extractor; shape (documents, 3).
        groups: group of each extractor.
        columns: number of extractors side by side.
    """
    rows = -(-len(values) // columns)
    shares = {
        name: [np.histogram(documents[:, which], BINS, (0, 1))[0] / len(documents) * 100
               for which in range(3)]
        for name, documents in values.items()
    }  # fmt: skip
    highest = max(float(np.max(each)) for each in shares.values())
    with plot_settings():
        figure = _sheet(5.0 * columns, rows)
        panels = figure.subplots(rows, 3 * columns, squeeze=False, sharex=True, sharey=True)
        for axes in panels.flat:
            axes.set_visible(False)
        for number, (name, three) in enumerate(shares.items()):
            column, row = divmod(number, rows)
            mine = panels[row, 3 * column : 3 * column + 3]
            for axes, measure, share in zip(mine, _MEASURES, three, strict=True):
                _draw(axes, share, measure, STYLES[groups[name]].bar)
                if row == rows - 1 or number == len(values) - 1:
                    axes.set_xlabel(measure)
                    axes.tick_params(labelbottom=True)
            mine[0].set_title(sanitize(name), loc="left", fontsize=8.5, pad=3)
        panels[0, 0].set(xlim=(0, 1), ylim=(0, highest * 1.04), xticks=[0, 0.5, 1])
        panels[0, 0].set_xticklabels(["0", ".5", "1"])
        figure.supylabel("documents, %", fontsize=9, x=0.01)
    return figure


def _sheet(width: float, rows: int) -> Figure:
    """Return a figure with space for rows of panels.

    The margins are computed here, because matplotlib's constrained layout takes seconds for eighty
    panels.
    """
    panel, gap, top, bottom = 0.5, 0.28, 0.3, 0.5  # inches
    height = top + rows * panel + (rows - 1) * gap + bottom
    figure = new_figure(width, height, layout=None)
    figure.subplots_adjust(
        left=0.6 / width, right=1 - 0.1 / width, top=1 - top / height, bottom=bottom / height,
        hspace=gap / panel, wspace=0.12,
    )  # fmt: skip
    return figure


def _draw(axes: Axes, share: NDArray[np.float64], measure: str, color: str) -> None:
    """Draw one histogram and write the name of its measure into it.

    The label of the axis repeats the name, but this label may be several panels below.
    """
    axes.set_visible(True)
    axes.stairs(share, np.linspace(0, 1, BINS + 1), fill=True, color=color)
    axes.text(0.05, 0.72, measure, transform=axes.transAxes, fontsize=8, color=GREY)
    draw_grid(axes, "y")
