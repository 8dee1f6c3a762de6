"""Draw the curves of docs/claims.md as SVG. The same figures give the same bytes."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.claims.figures import CurveFigures, load_figures

FOLDER = Path(__file__).parents[2] / "docs" / "claims"
STORED = "figures.json"

_STYLES = ("-", "--", "-.", ":")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000")  # Okabe and Ito, for colour-blind readers


def draw_stored(folder: Path = FOLDER) -> None:
    """Draw the curves of a folder from the figures stored in it, without a new measurement."""
    draw_curves(load_figures(folder / STORED), folder)


def draw_curves(figures: CurveFigures, folder: Path) -> None:
    """Write all curves to a folder."""
    folder.mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "urltree", "font.size": 9, "svg.fonttype": "none"}):
        for name, figure in (
            ("sites", _sites(figures)),
            ("heuristics", _heuristics(figures)),
            ("windows", _windows(figures)),
        ):
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
            # Matplotlib writes a line for each point; this writes each path on one line.
            lines = text.getvalue().replace(" \nL ", " L ")
            (folder / f"{name}.svg").write_text(lines, "utf-8")


def _sites(figures: CurveFigures) -> Figure:
    """Draw the moving average of F1 of each site, as in the paper's figure 4."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for number, points in enumerate(figures.sites):
        grey = str(0.15 + 0.55 * number / len(figures.sites))
        axes.plot(*zip(*points, strict=True), linewidth=0.8, color=grey)
    median = zip(*figures.median, strict=True)
    axes.plot(*median, color=_COLOURS[1], linewidth=2.5, label="median site")
    axes.set(xscale="log", xlabel="documents of the site", ylabel="F1, mean so far", ylim=(0, 1))
    axes.legend(loc="lower right")
    return figure


def _heuristics(figures: CurveFigures) -> Figure:
    """Draw the paper's figure 5. All sites have the same weight, even if they differ in size."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (name, points), style, colour in zip(
        figures.heuristics.items(), _STYLES, _COLOURS, strict=True
    ):
        axes.plot(*zip(*points, strict=True), style, color=colour, label=name)
    axes.set(xlabel="share of each site's stream, %", ylabel="F1, mean so far, mean of the sites")
    axes.legend(loc="lower right")
    return figure


def _windows(figures: CurveFigures) -> Figure:
    """Draw F1 by the number of documents that a site remembers.

    The paper did not measure this.
    """
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (name, points), style, colour in zip(
        figures.windows.items(), _STYLES, _COLOURS, strict=False
    ):
        axes.plot(*zip(*points, strict=True), style, marker="o", color=colour, label=name)
        axes.axhline(figures.everything[name], linestyle=style, linewidth=0.7, color=colour)
    axes.set(xscale="log", xlabel="documents remembered of a site", ylabel="F1, mean of the sites")
    axes.set_ylim(0.8, 0.9)
    axes.legend(title="thin lines: all documents are remembered", loc="lower right")
    return figure
