"""Compare extractors domain by domain: the best of each domain, and the sign test over domains.

The sign test is two-sided and exact. For two equally good extractors, the number of domains on
which the first one is better has a binomial distribution with p = 1/2. Domains on which both are
equal are ignored.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from urltree_evaluation.statistics.bootstrap import Estimate, differences_to, macro_estimates
from urltree_evaluation.statistics.table import EQUAL, ScoreTable

FEWEST = 10  # lowest number of pages of a domain for which intervals are computed


class Winner(NamedTuple):
    """The best extractors on a domain.

    Attributes:
        domain: the domain.
        pages: number of pages of the domain in the table.
        names: name of the best extractor, or names of several equally good ones.
        value: mean F1 of the best extractors on the domain.
        margin: F1 of the best extractor minus that of the next best; about 0 if several are best,
            NaN if there is only one extractor.
    """

    domain: str
    pages: int
    names: tuple[str, ...]
    value: float
    margin: float


def winners(table: ScoreTable) -> list[Winner]:
    """Return the best extractors of each domain, in the order of the table."""
    return [
        _winner(table, domain, int(pages), means.tolist())
        for domain, pages, means in zip(
            table.domain_names, table.domain_sizes, table.domain_means, strict=True
        )
    ]


def wins(table: ScoreTable) -> dict[str, int]:
    """Return the number of domains on which each extractor is the best, or equal to the best."""
    found = winners(table)
    return {name: sum(name in winner.names for winner in found) for name in table.names}


def domain_figures(table: ScoreTable, domain: str) -> tuple[Estimate, dict[str, Estimate]] | None:
    """Return the margin of the best extractor on a domain, and every extractor's mean there.

    The margin is the difference to the next best extractor. The result is None if the domain has
    fewer than `FEWEST` pages, or if there is only one extractor.
    """
    own = table.select(table.domain_codes == table.domain_names.index(domain))
    gaps = differences_to(own) if len(own) >= FEWEST else {}
    if not gaps:
        return None
    next_best = max(gaps.values())
    ahead = Estimate(*(0 - each for each in (next_best.value, next_best.high, next_best.low)))
    return ahead, macro_estimates(own)


def _winner(table: ScoreTable, domain: str, pages: int, means: list[float]) -> Winner:
    value, *others = sorted(means, reverse=True)
    names = tuple(
        name for name, mean in zip(table.names, means, strict=True) if value - mean < EQUAL
    )
    return Winner(domain, pages, names, value, value - others[0] if others else np.nan)


class SignTest(NamedTuple):
    """The numbers of domains on which the first extractor is better, equal and worse, and p."""

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(table: ScoreTable, first: str, second: str) -> SignTest:
    """Compare two extractors by their means on each domain."""
    means = table.domain_means
    gaps = means[:, table.column(first)] - means[:, table.column(second)]
    wins, losses = int(np.sum(gaps > EQUAL)), int(np.sum(gaps < -EQUAL))
    return SignTest(wins, len(gaps) - wins - losses, losses, two_sided(wins, losses))


def two_sided(wins: int, losses: int) -> float:
    """Return the probability of numbers at least this unequal, if both are equally good."""
    total, fewer = wins + losses, min(wins, losses)
    tail = sum(comb(total, count) for count in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))
