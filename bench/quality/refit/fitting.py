"""Fit all numbers and select the words by a program, in place of a person.

    1. Each value of each number alone is scored on each site. All halves share this.
    2. The best value of each number on the fitting sites is taken if F1 rises with what was
       taken before; the number with the largest gain comes first.
    3. Words that no fitting site has are removed. Of the others, one by one, a word is removed
         needed    if F1 does not fall: the shortest sufficient list remains
         seen      if F1 rises: the words remain that a reader of these sites would note

A change of less than a millionth is ignored. Of several words that mark the same element, `needed`
keeps one, but another site may have only the others. So `needed` is the harder measure.
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


Effects = Mapping[Path, Mapping[Move, float]]  # F1 of each site after each move from the start


@dataclass(frozen=True, slots=True)
class Fit:
    """The task of one process.

    Attributes:
        half: number of the halving and of its half; None for all sites.
        files: sites to fit on.
        others: sites that are measured as well.
        effects: F1 of each site after each move.
        pages: number of first pages of each site.
    """

    half: tuple[int, int] | None
    files: tuple[Path, ...]
    others: tuple[Path, ...]
    effects: Effects
    pages: int = PAGES


class Fitted(NamedTuple):
    """The result of a fit.

    Attributes:
        half: number of the halving and of its half; None for all sites.
        rule: rule that selected the words.
        setting: fitted numbers, and removed words.
        f1: F1 of each site, including those that were not used for the fit.
    """

    half: tuple[int, int] | None
    rule: SelectionRule
    setting: Setting
    f1: dict[Path, float]


def effects(work: tuple[Path, int]) -> tuple[Path, dict[Move, float]]:
    """Return the F1 of a site with each value of each number, the others at their start."""
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
    """Return the best numbers for the fitting sites."""
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
    """Remove words by what the fitting sites show."""
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
    """Return the best value of each number with its gain alone, the largest gain first."""
    found = []
    for name in Parameters._fields:
        moves = [Move(name, value) for value in values_to_try(name)]
        gains = [fmean(work.effects[file][move] for file in work.files) for move in moves]
        gain = max(gains)
        found.append((gain - before, moves[gains.index(gain)]))
    return sorted(found, key=lambda pair: -pair[0])
