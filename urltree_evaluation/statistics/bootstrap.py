"""Bootstrap: estimate how much a mean would vary if other sites and pages had been chosen.

    resample 1:   b.org twice, a.org never;   pages of b.org: 3, 3, 5  and  4, 3, 3   ──▶ mean
    resample 2:   …                                                                   ──▶ mean

First, domains are drawn with replacement. Then, if a drawn domain has n pages, n of its pages are
drawn with replacement. The draw has these two steps because pages of one site are similar. A mean
only needs the number of times that each page was drawn, so a resample is a row of counts. Every
extractor has the same resamples, so differences between extractors are paired.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urltree_evaluation.statistics.shared_pages import SharedPages
from urltree_evaluation.statistics.table import ScoreTable

RESAMPLES = 1000
SEED = 1
INTERVAL = (2.5, 97.5)  # percentiles of the resamples

_CHUNK = 100  # resamples that are multiplied at the same time: 9 MB for 11,000 pages

Floats = NDArray[np.float64]
Counts = NDArray[np.uint16]


class Estimate(NamedTuple):
    """A mean with the interval that contains 95 % of the resamples."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width, which is printed after ±."""
        return (self.high - self.low) / 2


def macro_estimates(
    table: ScoreTable, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Estimate]:
    """Return the macro mean (over domains) of each extractor, with its interval."""
    return _estimates_by_name(table.macro(), _macro(table, resamples, seed))


def micro_estimates(
    table: ScoreTable, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Estimate]:
    """Return the micro mean (over pages) of each extractor, with its interval."""
    counts = draw_resamples(table, resamples, seed)
    sums = resampled_sums(counts, table.values)
    with np.errstate(invalid="ignore"):
        return _estimates_by_name(table.micro(), sums / counts.sum(axis=1, keepdims=True))


def success_estimates(
    table: ScoreTable, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Estimate]:
    """Return the mean over each extractor's pages that are not boundary cases, as in the thesis."""
    counts = draw_resamples(table, resamples, seed)
    sums = resampled_sums(counts, table.values * table.is_success)
    with np.errstate(invalid="ignore"):
        means = sums / resampled_sums(counts, table.is_success.astype(np.float64))
    return _estimates_by_name(table.successes(), means)


def differences_to(
    table: ScoreTable, to: str | None = None, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Estimate]:
    """Return the macro mean of each other extractor minus that of `to`, by default the best one."""
    to = table.ranked()[0] if to is None else to
    column, macro = table.column(to), table.macro()
    values = {name: value - macro[to] for name, value in macro.items()}
    samples = _macro(table, resamples, seed)
    found = _estimates_by_name(values, samples - samples[:, [column]])
    return {name: figure for name, figure in found.items() if name != to}


def pairwise_differences(
    table: ScoreTable, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[tuple[str, str], Estimate]:
    """Return the difference between every two extractors; the better one of a pair is first."""
    macro, samples = table.macro(), _macro(table, resamples, seed)
    couples = list(combinations(table.ranked(), 2))
    first, second = ([table.column(couple[i]) for couple in couples] for i in (0, 1))
    intervals = _intervals(samples[:, first] - samples[:, second])
    return {
        (better, worse): Estimate(macro[better] - macro[worse], low, high)
        for (better, worse), (low, high) in zip(couples, intervals, strict=True)
    }


def draw_resamples(table: SharedPages, resamples: int = RESAMPLES, seed: int = SEED) -> Counts:
    """Return how often each page is drawn in each resample; shape (resamples, pages).

    Two tables with the same pages get the same counts, even if their extractors are different.
    """
    return _draw(table.domain_codes.tobytes(), resamples, seed)


def resampled_sums(counts: Counts, values: Floats) -> Floats:
    """Return the sum of the drawn pages' values in each resample; shape (resamples, columns)."""
    chunks = [counts[at : at + _CHUNK] for at in range(0, len(counts), _CHUNK)]
    return np.concatenate([chunk.astype(np.float64) @ values for chunk in chunks])


def confidence_interval(samples: Floats) -> tuple[float, float]:
    """Return the 95 % interval of one column of resamples; NaN if no resample has a value."""
    return _intervals(samples.reshape(-1, 1))[0]


def _macro(table: ScoreTable, resamples: int, seed: int) -> Floats:
    """Return the macro mean of each resample, NaN without pages; shape (resamples, extractors)."""
    if not len(table):
        return np.full((resamples, len(table.names)), np.nan)
    shares = table.domain_sizes[table.domain_codes] * len(table.domain_names)
    return resampled_sums(draw_resamples(table, resamples, seed), table.values / shares[:, None])


def _estimates_by_name(values: dict[str, float], samples: Floats) -> dict[str, Estimate]:
    intervals = zip(values.items(), _intervals(samples), strict=True)
    return {name: Estimate(value, low, high) for (name, value), (low, high) in intervals}


def _intervals(samples: Floats) -> list[tuple[float, float]]:
    """Return the interval of each column; resamples without a page to average (NaN) are ignored."""
    found: list[tuple[float, float]] = []
    for column in samples.T:
        known = column[~np.isnan(column)]
        low, high = np.percentile(known, INTERVAL) if len(known) else (np.nan, np.nan)
        found.append((float(low), float(high)))
    return found


@lru_cache(maxsize=4)
def _draw(domain_codes: bytes, resamples: int, seed: int) -> Counts:
    """Return how often each page is drawn in each resample.

    If a domain of n pages is drawn k times, then k times n of its pages are drawn.
    """
    codes = np.frombuffer(domain_codes, dtype=np.int64)
    chance, sizes = np.random.default_rng(seed), np.bincount(codes)
    counts = np.zeros((resamples, len(codes)), dtype=np.uint16)
    if not len(codes):
        return counts
    times = chance.multinomial(len(sizes), _uniform(len(sizes)), size=resamples)
    for domain, size in enumerate(sizes.tolist()):
        pages = chance.multinomial(times[:, domain] * size, _uniform(size))
        counts[:, codes == domain] = pages
    return counts


def _uniform(among: int) -> Floats:
    return np.full(among, 1 / among)
