"""Box plots of the F1 of documents: a box for each domain, or for each extractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from urltree_evaluation.report.drawing import draw_grid, new_figure, plot_settings
from urltree_evaluation.report.groups import BLACK, GREY, STYLES, VERMILION, Group, MarkerStyle
from urltree_evaluation.report.sanitizing import sanitize

F1Values = NDArray[np.float64]


def by_domain(
    values: Mapping[str, Mapping[str, F1Values]],
    groups: Mapping[str, Group],
    domains: Sequence[str],
) -> Figure:
    """Draw a panel for each extractor, with a box for each domain.

    Args:
        values: F1 of the documents, by extractor and domain.
        groups: group of each extractor.
        domains: domains from top to bottom.
    """
    with plot_settings():
        figure = new_figure(1.7 + 1.5 * len(values), 1.0 + 0.24 * len(domains))
        panels = figure.subplots(1, len(values), squeeze=False, sharey=True)[0]
        for axes, (name, samples) in zip(panels, values.items(), strict=True):
            _draw(axes, [samples.get(each, np.array([])) for each in domains], STYLES[groups[name]])
            axes.set_title(_broken(sanitize(name)))
            axes.set_xlabel("F1")
        panels[0].set_yticks(range(len(domains)), [sanitize(domain) for domain in domains])
        panels[0].set_ylabel("domain")
    return figure


def by_extractor(values: Mapping[str, F1Values], groups: Mapping[str, Group]) -> Figure:
    """Draw a box for each extractor with the F1 of all documents."""
    with plot_settings():
        figure = new_figure(8.6, 0.9 + 0.24 * len(values))
        axes = figure.subplots()
        for row, (name, sample) in enumerate(values.items()):
            _draw(axes, [sample], STYLES[groups[name]], row)
        axes.set_yticks(range(len(values)), [sanitize(name) for name in values])
        axes.set_ylim(len(values) - 0.4, -0.6)
        axes.set_xlabel("F1 of a document (0 to 1)")
        axes.set_ylabel("extractor")
    return figure


def _draw(axes: Axes, samples: Sequence[F1Values], look: MarkerStyle, first: int = 0) -> None:
    """Draw horizontal boxes and outliers from row `first` down; whiskers are up to 1.5 IQR long."""
    positions = [first + row for row in range(len(samples))]
    axes.boxplot(
        samples, positions=positions, orientation="horizontal", widths=0.6, patch_artist=True,
        boxprops={"facecolor": "#fbe3d3" if look.color == VERMILION else "#e8eef3",
                  "edgecolor": look.color, "linewidth": 0.8},
        medianprops={"color": BLACK, "linewidth": 1.6},
        whiskerprops={"color": look.color, "linewidth": 0.8},
        capprops={"color": look.color, "linewidth": 0.8},
        flierprops={"marker": ".", "markersize": 2.5, "markerfacecolor": GREY,
                    "markeredgecolor": "none"},
    )  # fmt: skip
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_ylim(positions[-1] + 0.6, -0.6)
    axes.tick_params(axis="y", length=0)
    draw_grid(axes, "both")


def _broken(name: str, width: int = 19) -> str:
    """Break a long name at a hyphen into two lines."""
    if len(name) <= width:
        return name
    at = name.rfind("-", 0, width) + 1 or width
    return f"{name[:at]}\n{name[at:]}"
