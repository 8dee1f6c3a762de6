"""Floors: F1 values that our heuristics reached on a corpus, and must not fall below.

    corpus: 3f0a…                                        # the floors apply to these pages only
    pages: 1114
    floors:
      strict: {words: 0.8619, words+title: 0.8684, …}    # macro F1: mean of the sites
    sites:
      strict:
        site.example: {words: 0.9512, …}                 # not floors: they locate a fall
    lowered:
    - {what: "strict, words", floor: 0.87, now: 0.8619, reason: "…"}

The values are reproducible, so they are rounded down to four digits and compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, Self

import yaml

FIGURES = ("words", "words+title", "masked words", "masked words+title")
SHIPPED = Path(__file__).with_name("floors.yaml")

Figures = dict[str, float]  # F1 by metric; the metrics are those of FIGURES

_DIGITS = 10_000


class FloorsError(Exception):
    """A file cannot be read, has invalid floors, or has floors that belong to another corpus."""


class Fall(NamedTuple):
    """A value below its floor; the value is 0 if the heuristic no longer exists."""

    heuristic: str
    figure: str
    floor: float
    now: float


class SiteFall(NamedTuple):
    """A site on which the F1 of a heuristic was higher before."""

    site: str
    before: float
    now: float


@dataclass(frozen=True)
class GateFigures:
    """The measured F1 values.

    Attributes:
        corpus: sha256 of the pages.
        pages: number of scored pages.
        sites: F1 by heuristic and site; each value is the mean of the pages of the site.
    """

    corpus: str
    pages: int
    sites: Mapping[str, Mapping[str, Figures]]

    def macro(self) -> dict[str, Figures]:
        """Return the mean F1 over all sites, by heuristic and metric."""
        return {
            heuristic: {name: fmean(site[name] for site in sites.values()) for name in FIGURES}
            for heuristic, sites in self.sites.items()
        }


@dataclass(frozen=True)
class Floors:
    """The content of a file of floors.

    Attributes:
        corpus: sha256 of the pages that the floors apply to.
        pages: number of scored pages.
        floors: lowest allowed macro F1, by heuristic and metric.
        sites: F1 by heuristic, site and metric. They show on which sites a value fell.
        lowered: log of the floors that were lowered, with the reasons.
    """

    corpus: str
    pages: int
    floors: dict[str, Figures]
    sites: dict[str, dict[str, Figures]]
    lowered: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, measured: GateFigures) -> Self:
        """Return floors equal to the measured values."""
        floors = {name: _round_down_all(figures) for name, figures in measured.macro().items()}
        sites = {
            heuristic: {site: _round_down_all(figures) for site, figures in found.items()}
            for heuristic, found in measured.sites.items()
        }
        return cls(measured.corpus, measured.pages, floors, sites)

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read the floors of a file.

        Raises:
            FloorsError: the file cannot be read, or its content is invalid.
        """
        try:
            return cls(**yaml.safe_load(file.read_text("utf-8")))
        except (OSError, TypeError, ValueError, yaml.YAMLError) as error:
            raise FloorsError(
                f"{file}: cannot read floors: {error}. To write floors to a new file, pass --raise."
            ) from error

    def write(self, file: Path) -> None:
        """Write the file, with one line for each heuristic and site."""
        text = yaml.safe_dump(asdict(self), default_flow_style=None, sort_keys=False, width=1_000)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def falls(self, measured: GateFigures) -> list[Fall]:
        """Return all values below their floors; a missing heuristic has the value 0."""
        now = Floors.of(measured).floors
        falls = [
            Fall(heuristic, figure, floor, now.get(heuristic, {}).get(figure, 0.0))
            for heuristic, figures in self.floors.items()
            for figure, floor in figures.items()
        ]
        return [fall for fall in falls if fall.now < fall.floor]

    def without_floor(self, measured: GateFigures) -> list[str]:
        """Return the measured heuristics that lack a floor for some metric."""
        return [name for name in measured.sites if set(FIGURES) - set(self.floors.get(name, ()))]

    def site_falls(self, measured: GateFigures, fall: Fall) -> list[SiteFall]:
        """Return the sites on which a value was higher before; the largest fall comes first."""
        now = Floors.of(measured).sites.get(fall.heuristic, {})
        falls = [
            SiteFall(site, before[fall.figure], now.get(site, {}).get(fall.figure, 0.0))
            for site, before in self.sites.get(fall.heuristic, {}).items()
        ]
        return sorted((f for f in falls if f.now < f.before), key=lambda f: f.now - f.before)

    def raised(self, measured: GateFigures) -> Floors:
        """Return floors equal to the measured values, with the same log as these floors.

        Raises:
            ValueError: a value is below its floor, or the corpus is different.
        """
        if self.corpus != measured.corpus or self.falls(measured):
            raise ValueError(
                "cannot raise the floors: a value is below its floor, or the corpus is different"
            )
        floors = Floors.of(measured)
        floors.lowered.extend(self.lowered)
        return floors

    def lowered_to(self, measured: GateFigures, reason: str) -> Floors:
        """Return floors equal to the measured values, and log each value that fell.

        For a different corpus, the log gets one entry for the corpus.

        Raises:
            ValueError: the reason is empty.
        """
        if not reason.strip():
            raise ValueError("cannot lower floors without a reason")
        entries: list[dict[str, Any]] = []
        if self.corpus != measured.corpus:
            entries.append({"what": "corpus", "floor": self.corpus, "now": measured.corpus})
        else:
            for heuristic, figure, floor, now in self.falls(measured):
                entries.append({"what": f"{heuristic}, {figure}", "floor": floor, "now": now})
        floors = Floors.of(measured)
        floors.lowered.extend([*self.lowered, *(e | {"reason": reason.strip()} for e in entries)])
        return floors


def _round_down_all(figures: Figures) -> Figures:
    return {name: round_down(value) for name, value in figures.items()}


def round_down(value: float) -> float:
    """Round down to four digits, with a tolerance for floating-point errors."""
    return math.floor(value * _DIGITS + 1e-6) / _DIGITS
