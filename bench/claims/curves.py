"""The curves of docs/claims.md, as SVG: by matplotlib, the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bench.claims.tables import of
from bench.claims.variants import DOCUMENTS, EVICTED, SiteF1

_STYLES = ("-", "--", "-.", ":")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000")  # Okabe and Ito: told apart by all
_SHOWN = ("strict", "strict-support-100", "strict-at-domain", "relaxed-at-domain-500")


def draw(sites: Sequence[SiteF1], folder: Path) -> None:
    """Write all curves to a folder."""
    folder.mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "urltree", "font.size": 9, "svg.fonttype": "none"}):
        for name, figure in (
            ("sites", _sites(sites)),
            ("heuristics", _heuristics(sites)),
            ("windows", _windows(sites)),
        ):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


def _sites(sites: Sequence[SiteF1]) -> Figure:
    """The paper's figure 4: moving average of each site."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for number, site in enumerate(sites):
        average = _moving(of(site, "strict"))
        numbers = np.arange(1, len(average) + 1)
        axes.plot(numbers, average, linewidth=0.8, color=str(0.15 + 0.55 * number / len(sites)))
    middle = [
        (n, np.median([_moving(of(site, "strict"))[n - 1] for site in sites if _long(site, n)]))
        for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)
        if any(_long(site, n) for site in sites)
    ]
    axes.plot(*zip(*middle, strict=True), color=_COLOURS[1], linewidth=2.5, label="median site")
    axes.set(xscale="log", xlabel="documents of the site", ylabel="F1, mean so far", ylim=(0, 1))
    axes.legend(loc="lower right")
    return figure


def _heuristics(sites: Sequence[SiteF1]) -> Figure:
    """The paper's figure 5, sites weighing the same: they are of other years and sizes."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    shares = np.linspace(0.01, 1, 100)
    for name, style, colour in zip(_SHOWN, _STYLES, _COLOURS, strict=True):
        averages = [_moving(of(site, name)) for site in sites]
        line = [np.mean([a[max(int(share * len(a)) - 1, 0)] for a in averages]) for share in shares]
        axes.plot(100 * shares, line, style, color=colour, label=name)
    axes.set(xlabel="share of each site's stream, %", ylabel="F1, mean so far, mean of the sites")
    axes.legend(loc="lower right")
    return figure


def _windows(sites: Sequence[SiteF1]) -> Figure:
    """F1 by the number of documents that are remembered; the paper left it open."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, style, colour in zip(EVICTED, _STYLES, _COLOURS, strict=False):
        by_window = [
            np.mean([of(site, f"{name}, newest {n:,}").mean() for site in sites]) for n in DOCUMENTS
        ]
        axes.plot(DOCUMENTS, by_window, style, marker="o", color=colour, label=name)
        everything = float(np.mean([of(site, name).mean() for site in sites]))
        axes.axhline(everything, linestyle=style, linewidth=0.7, color=colour)
    axes.set(xscale="log", xlabel="documents remembered of a site", ylabel="F1, mean of the sites")
    axes.set_ylim(0.8, 0.9)
    axes.legend(title="thin lines: all are remembered", loc="lower right")
    return figure


def _moving(values: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.cumsum(values, dtype=np.float64) / np.arange(1, len(values) + 1)


def _long(site: SiteF1, number: int) -> bool:
    return int(site.f1.shape[1]) >= number
