"""Compare fits on one half of the sites with a fit on all sites, for ten random halvings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean

from bench.figure import Measurement
from bench.quality.markdown import (
    DIFFERENCE,
    QualityResult,
    at_least,
    format_signed,
    four_digits,
    markdown_table,
)
from bench.quality.passes import site_of
from bench.quality.refit.fitting import RULES, Fit, Fitted, SelectionRule, effects, fit_half
from bench.quality.refit.setting import all_words, start
from bench.quality.refit.site import PAGES
from urltree.heuristics.evidence.parameters import Parameters
from urltree_evaluation.pool import map_unordered

HALVINGS = 10

# for each half, the sites that were not used for its fit
Unseen = Mapping[tuple[int, int] | None, tuple[Path, ...]]


def halvings(files: Sequence[Path]) -> list[tuple[tuple[Path, ...], tuple[Path, ...]]]:
    """Return ten random halvings in both orders, as pairs: sites to fit on, and other sites."""
    found = []
    for seed in range(HALVINGS):
        shuffled = sorted(files)
        Random(seed).shuffle(shuffled)
        first, second = shuffled[: len(files) // 2], shuffled[len(files) // 2 :]
        found += [(tuple(first), tuple(second)), (tuple(second), tuple(first))]
    return found


def refit(files: Sequence[Path], processes: int, pages: int = PAGES) -> QualityResult:
    """Make section 5: fit on each half and on all sites, and summarise the fits."""
    largest = sorted(files, key=lambda file: -file.stat().st_size)
    known = dict(map_unordered(effects, [(file, pages) for file in largest], processes))
    work = [Fit(None, tuple(files), (), known, pages)]
    for number, (seen, unseen) in enumerate(halvings(files)):
        work.append(Fit((number // 2 + 1, number % 2 + 1), seen, unseen, known, pages))
    fits = [fitted for both in map_unordered(fit_half, work, processes) for fitted in both]
    return summarise_fits(fits, {each.half: each.others for each in work}, pages)


def summarise_fits(fits: Sequence[Fitted], unseen: Unseen, pages: int) -> QualityResult:
    """Summarise fits by the mean difference, the worst half, the worst site and chosen values."""
    ordered = sorted(fits, key=lambda fitted: fitted.half or (0, 0))
    found, tables = list[Measurement](), list[str]()
    for rule in RULES:
        everything, *halves = (fitted for fitted in ordered if fitted.rule == rule)
        of_rule, shown = _by_rule(rule, everything, halves, unseen)
        found += of_rule
        tables.append(shown)
    everything, *halves = (fitted for fitted in ordered if fitted.rule == RULES[0])
    method = (
        f"The first {pages} pages of a site, scored as in section 1, with titles, no eviction. A"
        f" program fits {len(Parameters._fields)} numbers on five values each and selects from"
        f" {len(all_words())} words: those *needed* on the half, or those *seen* without harm."
    )
    tables.append(_chosen(everything, halves))
    return QualityResult("Section 5: refitted on half of the sites", method, found, tables)


def _by_rule(
    rule: SelectionRule, everything: Fitted, halves: Sequence[Fitted], unseen: Unseen
) -> tuple[list[Measurement], str]:
    """Return the results for one rule, and a table with a line for each half."""
    rows, gaps, worst_sites = [], list[float](), list[tuple[float, str, str]]()
    for each in halves:
        files = unseen[each.half]
        own, of_all = (fmean(fitted.f1[file] for file in files) for fitted in (each, everything))
        gap = {file: each.f1[file] - everything.f1[file] for file in files}
        worst = min(gap, key=lambda file: gap[file])
        name = "{}, half {}".format(*(each.half or ()))
        gaps.append(own - of_all)
        worst_sites.append((gap[worst], site_of(worst), name))
        at_worst = f"{format_signed(gap[worst])} {site_of(worst)}"
        rows.append(
            [
                name,
                four_digits(own),
                four_digits(of_all),
                format_signed(gaps[-1]),
                at_worst,
                _words(each),
            ]
        )
    lowest = min(range(len(rows)), key=gaps.__getitem__)
    least, site, name = min(worst_sites)
    of_all, mean = fmean(everything.f1.values()), fmean(gaps)
    header = [f"words {rule}", "F1, unseen", "fitted on all", "difference", "worst site", "words"]
    return [
        Measurement(
            f"{rule}: fitted on all {len(everything.f1)} sites",
            of_all,
            "",
            note=f"{_words(everything)} words",
        ),
        Measurement(f"{rule}: unseen minus fitted on all", mean, DIFFERENCE, bar=at_least(-0.005)),
        Measurement(f"{rule}: worst halving", gaps[lowest], DIFFERENCE, note=str(rows[lowest][0])),
        Measurement(f"{rule}: worst site", least, DIFFERENCE, note=f"{site}, {name}"),
    ], markdown_table(header, rows)


def _words(fitted: Fitted) -> int:
    return len(all_words()) - len(fitted.setting.removed)


def _chosen(everything: Fitted, halves: Sequence[Fitted]) -> str:
    """Return a table with the default, the start and the fitted values of each number."""
    rows = []
    for name, default in Parameters()._asdict().items():
        values = sorted(getattr(each.setting.numbers, name) for each in halves)
        counts = ", ".join(f"{value:g} ({values.count(value)})" for value in sorted(set(values)))
        begun, fitted = (getattr(s.numbers, name) for s in (start(), everything.setting))
        rows.append([name, f"{default:g}", f"{begun:g}", f"{fitted:g}", counts])
    return markdown_table(
        ["number", "default", "begun at", "fitted on all", "on halves (times)"], rows
    )
