"""Sign test: does one extractor win on more domains than chance would give it (issue 5)?

Two-sided and exact: were both equally good, wins would be binomial with p = 1/2. Domains on which
both are equal say nothing, and are left out.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from urltree_evaluation.statistics.table import EQUAL, Table


class SignTest(NamedTuple):
    """Domains on which the first is better, both are equal, it is worse; and the probability."""

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(table: Table, first: str, second: str) -> SignTest:
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
