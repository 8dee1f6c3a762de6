"""Who wins where: the best extractor of each domain, and by how much."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from urltree_evaluation.statistics.bootstrap import Estimate, differences_to, macro_estimates
from urltree_evaluation.statistics.table import EQUAL, ScoreTable

FEWEST = 10  # pages of a domain from which its own interval says something


class Winner(NamedTuple):
    """The best on a domain.

    Attributes:
        pages: of the domain, in the table.
        names: the best extractor, or several where they are equal.
        value: their mean.
        margin: to the next best; 0 where several are best, NaN where there is only one extractor.
    """

    domain: str
    pages: int
    names: tuple[str, ...]
    value: float
    margin: float


def winners(table: ScoreTable) -> list[Winner]:
    """The best extractors of each domain, in the order of the table."""
    return [
        _winner(table, domain, int(pages), means.tolist())
        for domain, pages, means in zip(
            table.domain_names, table.domain_sizes, table.domain_means, strict=True
        )
    ]


def wins(table: ScoreTable) -> dict[str, int]:
    """Domains on which each extractor is the best, or one of several that are equal."""
    found = winners(table)
    return {name: sum(name in winner.names for winner in found) for name in table.names}


def domain_figures(table: ScoreTable, domain: str) -> tuple[Estimate, dict[str, Estimate]] | None:
    """By how much the best is ahead on a domain, and every extractor's mean, by its pages alone.

    None where the domain has few pages, or nobody is to be ahead of.
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
    """Domains on which the first is better, both are equal, it is worse; and the probability."""

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(table: ScoreTable, first: str, second: str) -> SignTest:
    """Compare two extractors by their mean on each domain."""
    means = table.domain_means
    gaps = means[:, table.column(first)] - means[:, table.column(second)]
    wins, losses = int(np.sum(gaps > EQUAL)), int(np.sum(gaps < -EQUAL))
    return SignTest(wins, len(gaps) - wins - losses, losses, two_sided(wins, losses))


def two_sided(wins: int, losses: int) -> float:
    """Probability of a result at least as uneven, were both equally likely; 1 where none is."""
    total, fewer = wins + losses, min(wins, losses)
    tail = sum(comb(total, count) for count in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))
