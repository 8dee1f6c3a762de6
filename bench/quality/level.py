"""Sections 1 and 6: measure the quality on whole streams and on the first pages of each site."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from bench.figure import Measurement
from bench.quality.markdown import (
    DIFFERENCE,
    QualityResult,
    at_least,
    at_most,
    format_interval,
    four_digits,
    markdown_table,
)
from bench.quality.passes import PageF1
from bench.quality.passes import score_table as table_of
from urltree_evaluation.statistics.bootstrap import Estimate as Interval
from urltree_evaluation.statistics.bootstrap import macro_estimates
from urltree_evaluation.statistics.table import ScoreTable

LEARNED = 100  # number of documents after which the heuristic has learned a site
POSITIONS = {"1": (1, 1), "2-5": (2, 5), "6-10": (6, 10), "11-30": (11, 30)}
_BARS = {"1": 0.94, "2-5": 0.94, "6-10": 0.975, "11-30": 0.985}
_MARKS = (0.9, 0.5)


def macro_f1(table: ScoreTable) -> Interval:
    """Return the macro F1 of a table with one column; NaN if the table has no page."""
    (found,) = macro_estimates(table).values()
    return found


def among(table: ScoreTable, first: int, last: int | None = None) -> ScoreTable:
    """Return a table of the pages whose number in their site is from `first` to `last`.

    If `last` is None, all pages from `first` on are included.
    """
    return table.select((table.numbers >= first) & (table.numbers <= (last or table.numbers.max())))


def level(pages: Sequence[PageF1]) -> QualityResult:
    """Make section 1: macro F1 of all pages and of later pages, the worst site, bad pages."""
    as_it_is, titled = table_of({"": pages}), table_of({"": pages}, "titled")
    known = among(as_it_is, LEARNED + 1)
    means = dict(zip(as_it_is.domain_names, as_it_is.domain_means[:, 0].tolist(), strict=True))
    worst = min(means, key=lambda site: means[site])
    found = [
        _with_interval("macro F1", macro_f1(as_it_is), 0.988, f"{len(means)} sites"),
        _with_interval("with the title prepended", macro_f1(titled)),
        Measurement("worst site", means[worst], "", note=worst, bar=at_least(0.93)),
        *(
            Measurement(
                f"pages below {mark}", float(np.mean(as_it_is.values < mark)), "", note="share"
            )
            for mark in _MARKS
        ),
    ]
    if len(known):
        note = f"{len(known.domain_names)} sites with more pages"
        after = _with_interval(f"after {LEARNED} documents", macro_f1(known), 0.992, note)
        found.insert(1, after)
    method = (
        "One pass over every page; a site's first 30 pages and every 10th are scored; words, LCS."
    )
    return QualityResult("Section 1: streams", method, found, [_sites(as_it_is, titled)])


def positions(pages: Sequence[PageF1]) -> QualityResult:
    """Make section 6: F1 by page number, and the largest loss from a first to a second page."""
    scores, found = table_of({"": pages}), []
    for name, (first, last) in POSITIONS.items():
        of_class = among(scores, first, last)
        if len(of_class):
            found.append(_with_interval(f"page {name}", macro_f1(of_class), _BARS[name]))
    site, drop = worst_drop(scores)
    found.append(
        Measurement(
            "largest loss from page 1 to page 2", drop, DIFFERENCE, note=f"{site}", bar=at_most(0.1)
        )
    )
    low = [
        [page.site, page.number, four_digits(page.f1)]
        for page in sorted(pages, key=lambda page: page.f1)
        if page.number <= POSITIONS["2-5"][1] and page.f1 < _MARKS[0]
    ]
    shown = [markdown_table(["low F1 among the first five", "page", "F1"], low)] if low else []
    return QualityResult(
        "Section 6: a site's first pages", "The first text of each page.", found, shown
    )


def worst_drop(scores: ScoreTable) -> tuple[str, float]:
    """Return the site with the largest loss of F1 from page 1 to page 2, and this loss."""
    first, second = (
        dict(zip(of.domains, of.values[:, 0].tolist(), strict=True))
        for of in (among(scores, 1, 1), among(scores, 2, 2))
    )
    drops = {site: first[site] - second[site] for site in first if site in second}
    if not drops:
        return "no site has both", 0.0
    worst = max(drops, key=lambda site: drops[site])
    return worst, drops[worst]


def _with_interval(
    name: str, value: Interval, bar: float | None = None, note: str = ""
) -> Measurement:
    note = "; ".join(part for part in (format_interval(value), note) if part)
    return Measurement(name, value.value, "", note=note, bar=None if bar is None else at_least(bar))


def _sites(as_it_is: ScoreTable, titled: ScoreTable) -> str:
    """Return a table with a line for each site; the site with the lowest F1 comes first."""
    header = ["site", "pages", "F1", "+title", "after 100", *POSITIONS, "below .9", "below .5"]
    rows = []
    for site in sorted(as_it_is.domain_names, key=lambda site: _mean(_of(as_it_is, site))):
        own, with_title = _of(as_it_is, site), _of(titled, site)
        numbers = as_it_is.numbers[[name == site for name in as_it_is.domains]]
        parts = [own[numbers > LEARNED]]
        parts += [own[(numbers >= low) & (numbers <= high)] for low, high in POSITIONS.values()]
        shares = [f"{fmean(own < mark):.1%}" for mark in _MARKS]
        means = [
            four_digits(_mean(part)) if len(part) else "" for part in (own, with_title, *parts)
        ]
        rows.append([site, len(own), *means, *shares])
    return markdown_table(header, rows)


def _of(scores: ScoreTable, site: str) -> NDArray[np.float64]:
    return scores.values[[name == site for name in scores.domains], 0]


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean())
