"""The script that takes a person's place: it fits every number and selects the words.

    1. Each number, each value of its grid, alone: what does it do on each site?     all halves
    2. The best value of each on the fitting sites, from the largest gain on:        share this
       taken where F1 rises with what was taken before.
    3. Words that no fitting site has go. Of the others, one by one, a word goes
         needed    where F1 does not fall: what stays is the shortest list that will do
         seen      where F1 rises: what stays is what one would write down who saw these sites

A change of less than a millionth is none. Of words that mark the same element `needed` keeps one,
and another site may have but the others: it is the harder measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from bench.quality.refit.setting import Setting, all_words, grid, start
from bench.quality.refit.site import PAGES, macro, site
from urltree.heuristics.evidence.parameters import Parameters

_NOTHING = 1e-6


Rule = Literal["needed", "seen"]
RULES: tuple[Rule, ...] = get_args(Rule)


class Move(NamedTuple):
    """A number put to a value."""

    name: str
    value: float


Effects = Mapping[Path, Mapping[Move, float]]  # F1 of each site after a move from the start


@dataclass(frozen=True, slots=True)
class Fit:
    """What a process does.

    Attributes:
        half: number of the halving and of its half; None is all sites.
        files: sites to fit on.
        others: sites that are measured as well.
        effects: of every move on every site.
    """

    half: tuple[int, int] | None
    files: tuple[Path, ...]
    others: tuple[Path, ...]
    effects: Effects
    pages: int = PAGES


class Fitted(NamedTuple):
    """What came of a fit.

    Attributes:
        f1: of each site, also of those that were not seen.
    """

    half: tuple[int, int] | None
    rule: Rule
    setting: Setting
    f1: dict[Path, float]


def effects(work: tuple[Path, int]) -> tuple[Path, dict[Move, float]]:
    """F1 of a site with each number at each value, the others where they start."""
    file, pages = work
    moves = [Move(name, value) for name in Parameters._fields for value in grid(name)]
    return file, {move: site(file, pages).f1(start().put(*move)) for move in moves}


def fit(work: Fit) -> list[Fitted]:
    """Fit all numbers on some sites, and select the words by each rule."""
    found, fitted = [], numbers(work)
    for rule in RULES:
        setting = select(work, fitted, rule)
        f1 = {file: site(file, work.pages).f1(setting) for file in (*work.files, *work.others)}
        found.append(Fitted(work.half, rule, setting, f1))
    return found


def numbers(work: Fit) -> Setting:
    """The numbers that are best on the fitting sites."""
    setting = start()
    best = macro(work.files, setting, work.pages)
    for gain, move in _ranked(work, best):
        tried = setting.put(*move)
        if gain > _NOTHING and (now := macro(work.files, tried, work.pages)) > best + _NOTHING:
            setting, best = tried, now
    return setting


def select(work: Fit, setting: Setting, rule: Rule) -> Setting:
    """The words that stay by what the fitting sites show."""
    seen = [word for word in all_words() if any(site(f, work.pages).has(word) for f in work.files)]
    setting = setting.without(set(all_words()) - set(seen))
    best = macro(work.files, setting, work.pages)
    margin = _NOTHING if rule == "seen" else -_NOTHING
    for word in seen:
        tried = setting.without([word])
        if (now := macro(work.files, tried, work.pages)) >= best + margin:
            setting, best = tried, now
    return setting


def _ranked(work: Fit, before: float) -> Sequence[tuple[float, Move]]:
    """Each number's best value with its gain alone, the largest first."""
    found = []
    for name in Parameters._fields:
        moves = [Move(name, value) for value in grid(name)]
        gains = [fmean(work.effects[file][move] for file in work.files) for move in moves]
        gain = max(gains)
        found.append((gain - before, moves[gains.index(gain)]))
    return sorted(found, key=lambda pair: -pair[0])
