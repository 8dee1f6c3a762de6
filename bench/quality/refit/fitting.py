"""Fit all numbers of the heuristic and select its words by a program instead of a person.

    1. Each value of each number is tried alone on each site. All halves share these results.
    2. The numbers are processed in the order of their gain on the fitting sites, the largest
       first. The best value of a number is taken if F1 rises, given the values taken before.
    3. Words that occur on no fitting site are removed. Then each other word is tried, and
         rule `needed`    removes it if F1 does not fall, so that only necessary words remain
         rule `seen`      removes it if F1 rises, so that all harmless words remain

A change of F1 of less than a millionth is ignored. If several words mark the same element, `needed`
keeps only one of them, but another site may use only the others. `needed` is therefore the harder
test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from bench.quality.refit.setting import Setting, all_words, start, values_to_try
from bench.quality.refit.site import PAGES, load_site, mean_of_sites
from urltree.heuristics.evidence.parameters import Parameters

_NOTHING = 1e-6


SelectionRule = Literal["needed", "seen"]
RULES: tuple[SelectionRule, ...] = get_args(SelectionRule)


class Move(NamedTuple):
    """A number and the value that it is set to."""

    name: str
    value: float


Effects = Mapping[Path, Mapping[Move, float]]  # F1 of each site if one number is moved from `start`


@dataclass(frozen=True, slots=True)
class Fit:
    """The task of one process: fit numbers and words on some sites, and measure all sites.

    Attributes:
        half: number of the halving and number of the half in it; None for a fit on all sites.
        files: sites that are used for the fit.
        others: sites that are measured but not used for the fit.
        effects: F1 of each site with each move alone.
        pages: number of pages that are read from the start of each site.
    """

    half: tuple[int, int] | None
    files: tuple[Path, ...]
    others: tuple[Path, ...]
    effects: Effects
    pages: int = PAGES


class Fitted(NamedTuple):
    """The result of a fit.

    Attributes:
        half: number of the halving and number of the half in it; None for a fit on all sites.
        rule: rule by which words were selected.
        setting: fitted numbers, and removed words.
        f1: F1 of each site, also of the sites that were not used for the fit.
    """

    half: tuple[int, int] | None
    rule: SelectionRule
    setting: Setting
    f1: dict[Path, float]


def effects(work: tuple[Path, int]) -> tuple[Path, dict[Move, float]]:
    """Return the F1 of a site with each value of each number; all other numbers are at `start`."""
    file, pages = work
    moves = [Move(name, value) for name in Parameters._fields for value in values_to_try(name)]
    return file, {move: load_site(file, pages).f1(start().put(*move)) for move in moves}


def fit_half(work: Fit) -> list[Fitted]:
    """Fit all numbers on some sites, and select the words by each rule."""
    found, fitted = [], numbers(work)
    for rule in RULES:
        setting = select(work, fitted, rule)
        f1 = {file: load_site(file, work.pages).f1(setting) for file in (*work.files, *work.others)}
        found.append(Fitted(work.half, rule, setting, f1))
    return found


def numbers(work: Fit) -> Setting:
    """Return a setting with the best numbers for the fitting sites."""
    setting = start()
    best = mean_of_sites(work.files, setting, work.pages)
    for gain, move in _ranked(work, best):
        tried = setting.put(*move)
        if (
            gain > _NOTHING
            and (now := mean_of_sites(work.files, tried, work.pages)) > best + _NOTHING
        ):
            setting, best = tried, now
    return setting


def select(work: Fit, setting: Setting, rule: SelectionRule) -> Setting:
    """Return the setting without the words that a rule removes because of the fitting sites."""
    seen = [
        word for word in all_words() if any(load_site(f, work.pages).has(word) for f in work.files)
    ]
    setting = setting.without(set(all_words()) - set(seen))
    best = mean_of_sites(work.files, setting, work.pages)
    margin = _NOTHING if rule == "seen" else -_NOTHING
    for word in seen:
        tried = setting.without([word])
        if (now := mean_of_sites(work.files, tried, work.pages)) >= best + margin:
            setting, best = tried, now
    return setting


def _ranked(work: Fit, before: float) -> Sequence[tuple[float, Move]]:
    """Return the best value of each number with its gain if tried alone, the largest gain first."""
    found = []
    for name in Parameters._fields:
        moves = [Move(name, value) for value in values_to_try(name)]
        gains = [fmean(work.effects[file][move] for file in work.files) for move in moves]
        gain = max(gains)
        found.append((gain - before, moves[gains.index(gain)]))
    return sorted(found, key=lambda pair: -pair[0])
