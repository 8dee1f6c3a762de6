"""Compute the figures of the curves in docs/claims.md from measurements, and store them as JSON.

The file `docs/claims/figures.json` has the figures, so that the curves can be drawn again without a
new measurement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.claims.tables import f1_of
from bench.claims.variants import DOCUMENTS, EVICTED, SiteF1

SHOWN = ("strict", "strict-support-100", "strict-at-domain", "relaxed-at-domain-500")
"""The heuristics of the paper's figure 5 that are drawn."""

SHARES = (1, *range(2, 101, 2))
"""Shares of each site's stream after which F1 is drawn, in percent."""

_MEDIAN_AT = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_POINTS = 20  # highest number of points of each site's curve, evenly spaced on a logarithmic axis

Points = list[tuple[float, float]]


class CurveFigures(NamedTuple):
    """The figures of all curves.

    Attributes:
        sites: for each site, points (number of documents, mean F1 of these documents).
        median: points (number of documents, median F1 of the sites with at least this
            number of documents).
        heuristics: for each heuristic, points (share of the stream in percent, mean F1 until then).
        windows: for each heuristic, points (number of documents that a site remembers, F1).
        everything: for each heuristic, the F1 if a site remembers all documents.
    """

    sites: list[Points]
    median: Points
    heuristics: Mapping[str, Points]
    windows: Mapping[str, Points]
    everything: Mapping[str, float]


def compute(sites: Sequence[SiteF1]) -> CurveFigures:
    """Compute all figures from measurements."""
    strict = [moving_average(f1_of(site, "strict")) for site in sites]
    return CurveFigures(
        sites=[_points(average) for average in strict],
        median=[
            (n, _rounded(np.median([a[n - 1] for a in strict if len(a) >= n])))
            for n in _MEDIAN_AT
            if any(len(a) >= n for a in strict)
        ],
        heuristics={name: _by_share(sites, name) for name in SHOWN},
        windows={
            name: [(n, _macro(sites, f"{name}, newest {n:,}")) for n in DOCUMENTS]
            for name in EVICTED
        },
        everything={name: _macro(sites, name) for name in EVICTED},
    )


def save(figures: CurveFigures, file: Path) -> None:
    """Write figures as JSON, with one line for each curve."""
    lines = []
    for name, value in figures._asdict().items():
        if isinstance(value, Mapping):
            inner = [f"  {json.dumps(key)}: {_dump(points)}" for key, points in value.items()]
            lines.append(f"{json.dumps(name)}: {{\n" + ",\n".join(inner) + "\n}")
        elif name == "sites":
            inner = [f"  {_dump(points)}" for points in value]
            lines.append(f"{json.dumps(name)}: [\n" + ",\n".join(inner) + "\n]")
        else:
            lines.append(f"{json.dumps(name)}: {_dump(value)}")
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def load_figures(file: Path) -> CurveFigures:
    """Read figures that `save` wrote."""
    return CurveFigures(**json.loads(file.read_text("utf-8")))


def moving_average(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return, for each value, the mean of all values up to it."""
    return np.cumsum(values, dtype=np.float64) / np.arange(1, len(values) + 1)


def _points(average: NDArray[np.float64]) -> Points:
    numbers = np.unique(np.geomspace(1, len(average), _POINTS).round().astype(int))
    return [(int(n), _rounded(average[n - 1])) for n in numbers]


def _by_share(sites: Sequence[SiteF1], name: str) -> Points:
    averages = [moving_average(f1_of(site, name)) for site in sites]
    return [
        (share, _rounded(np.mean([a[max(int(share * len(a) / 100) - 1, 0)] for a in averages])))
        for share in SHARES
    ]


def _macro(sites: Sequence[SiteF1], variant: str) -> float:
    return _rounded(np.mean([f1_of(site, variant).mean() for site in sites]))


def _rounded(value: float | np.floating) -> float:
    return round(float(value), 4)


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
