"""Floors: what our heuristics reached once on a corpus, and may not fall below (issue 5, "Gate").

    corpus: 3f0a…                                        # a floor holds for these pages alone
    pages: 1114
    floors:
      strict: {words: 0.8619, words+title: 0.8684, …}    # macro F1: mean of the sites
    sites:
      strict:
        site.example: {words: 0.9512, …}                 # no floors: they say where it fell
    lowered:
    - {what: "strict, words", floor: 0.87, now: 0.8619, reason: "…"}

Figures are the same on each run: they are compared exactly, rounded down to four digits.
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

Figures = dict[str, float]  # F1 by name, of FIGURES

_DIGITS = 10_000


class FloorsError(Exception):
    """The file holds no floors."""


class Fall(NamedTuple):
    """A figure below its floor; 0 where the heuristic is gone."""

    heuristic: str
    figure: str
    floor: float
    now: float


class SiteFall(NamedTuple):
    """A site on which a heuristic was better."""

    site: str
    before: float
    now: float


@dataclass(frozen=True)
class GateFigures:
    """What was measured.

    Attributes:
        corpus: sha256 of its pages.
        pages: that were scored.
        sites: F1 by heuristic and site, mean of the site's pages.
    """

    corpus: str
    pages: int
    sites: Mapping[str, Mapping[str, Figures]]

    def macro(self) -> dict[str, Figures]:
        """The mean over sites, by heuristic."""
        return {
            heuristic: {name: fmean(site[name] for site in sites.values()) for name in FIGURES}
            for heuristic, sites in self.sites.items()
        }


@dataclass(frozen=True)
class Floors:
    """The file. Attributes as above."""

    corpus: str
    pages: int
    floors: dict[str, Figures]
    sites: dict[str, dict[str, Figures]]
    lowered: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, measured: GateFigures) -> Self:
        """Floors at what was measured."""
        floors = {name: _rounded(figures) for name, figures in measured.macro().items()}
        sites = {
            heuristic: {site: _rounded(figures) for site, figures in found.items()}
            for heuristic, found in measured.sites.items()
        }
        return cls(measured.corpus, measured.pages, floors, sites)

    @classmethod
    def read(cls, file: Path) -> Self:
        """The floors of a file.

        Raises:
            FloorsError: it cannot be read, or holds something else.
        """
        try:
            return cls(**yaml.safe_load(file.read_text("utf-8")))
        except (OSError, TypeError, ValueError, yaml.YAMLError) as error:
            raise FloorsError(f"{file}: holds no floors: {error}") from error

    def write(self, file: Path) -> None:
        """Write the file, a line for each heuristic and site."""
        text = yaml.safe_dump(asdict(self), default_flow_style=None, sort_keys=False, width=1_000)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def falls(self, measured: GateFigures) -> list[Fall]:
        """What is below its floor, a heuristic that is gone among it."""
        now = Floors.of(measured).floors
        falls = [
            Fall(heuristic, figure, floor, now.get(heuristic, {}).get(figure, 0.0))
            for heuristic, figures in self.floors.items()
            for figure, floor in figures.items()
        ]
        return [fall for fall in falls if fall.now < fall.floor]

    def without_floor(self, measured: GateFigures) -> list[str]:
        """Heuristics that were measured and lack a floor of some figure."""
        return [name for name in measured.sites if set(FIGURES) - set(self.floors.get(name, ()))]

    def site_falls(self, measured: GateFigures, fall: Fall) -> list[SiteFall]:
        """The sites on which that figure was better, the deepest fall first."""
        now = Floors.of(measured).sites.get(fall.heuristic, {})
        falls = [
            SiteFall(site, before[fall.figure], now.get(site, {}).get(fall.figure, 0.0))
            for site, before in self.sites.get(fall.heuristic, {}).items()
        ]
        return sorted((f for f in falls if f.now < f.before), key=lambda f: f.now - f.before)

    def raised(self, measured: GateFigures) -> Floors:
        """Floors at what was measured, where nothing fell; the log stays.

        Raises:
            ValueError: something fell, or the corpus is another.
        """
        if self.corpus != measured.corpus or self.falls(measured):
            raise ValueError("raising would lower a floor")
        floors = Floors.of(measured)
        floors.lowered.extend(self.lowered)
        return floors

    def lowered_to(self, measured: GateFigures, reason: str) -> Floors:
        """Floors at what was measured, with what fell in the log; another corpus begins anew.

        Raises:
            ValueError: there is no reason.
        """
        if not reason.strip():
            raise ValueError("lowering needs a reason")
        entries: list[dict[str, Any]] = []
        if self.corpus != measured.corpus:
            entries.append({"what": "corpus", "floor": self.corpus, "now": measured.corpus})
        else:
            for heuristic, figure, floor, now in self.falls(measured):
                entries.append({"what": f"{heuristic}, {figure}", "floor": floor, "now": now})
        floors = Floors.of(measured)
        floors.lowered.extend([*self.lowered, *(e | {"reason": reason.strip()} for e in entries)])
        return floors


def _rounded(figures: Figures) -> Figures:
    return {name: round_down(value) for name, value in figures.items()}


def round_down(value: float) -> float:
    """To four digits; what arithmetic leaves of a figure of four digits is not rounded away."""
    return math.floor(value * _DIGITS + 1e-6) / _DIGITS
