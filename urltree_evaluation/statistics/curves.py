"""Learning curves: quality by the number of documents that a domain has had.

    F1
    .9 |            ________      the mean of all documents up to this one, as the paper draws it
    .7 |      _____/              (section 5.2, formula 4, and figure 4: a line for each domain)
    .5 |_____/
       +--------------------
        1    10    100   500      document number in its domain, those that are not scored counted

A mean over all documents keeps the bad beginning for ever: a milestone also has the mean of the
second half of its documents, which is what the extractor is worth by then (ours).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urltree_evaluation.statistics.bootstrap import Estimate, Floats, macro_estimates
from urltree_evaluation.statistics.table import ScoreTable

MILESTONES = (1, 5, 10, 20, 50, 100, 500)  # documents of a domain (issue 5)


class Curve(NamedTuple):
    """The moving average of one extractor.

    Attributes:
        numbers: of documents in their domain, rising; shape (points,).
        values: mean F1 of the scored documents up to each; shape (points,).
        domains: how many the value is a mean of; shape (points,).
    """

    numbers: NDArray[np.int64]
    values: Floats
    domains: NDArray[np.int64]


class Milestone(NamedTuple):
    """Figures after so many documents of a domain, as means over the domains that have as many.

    Attributes:
        domains: how many have as many; milestones of different domains are not one curve.
        average: of all documents up to the milestone, by extractor: the paper's.
        latest: of the second half of them, by extractor; NaN where none of it is scored.
        latest_domains: how many have a scored document in that half.
    """

    number: int
    domains: int
    average: dict[str, Estimate]
    latest: dict[str, Estimate]
    latest_domains: int


def curves(table: ScoreTable, name: str) -> dict[str, Curve]:
    """The moving average of an extractor in each domain."""
    found = {}
    for code, domain in enumerate(table.domain_names):
        rows = np.flatnonzero(table.domain_codes == code)
        rows = rows[np.argsort(table.numbers[rows], kind="stable")]
        values = table.values[rows, table.column(name)]
        averages = np.cumsum(values) / np.arange(1, len(rows) + 1)
        found[domain] = Curve(table.numbers[rows], averages, np.ones(len(rows), dtype=np.int64))
    return found


def mean_curve(by_domain: dict[str, Curve]) -> Curve:
    """The mean of domains' curves at each number; a domain is in it from its first to its last.

    It may jump where a domain ends: `domains` says how many are left.
    """
    last = max((int(curve.numbers[-1]) for curve in by_domain.values()), default=0)
    numbers = np.arange(1, last + 1)
    values = [_at(curve, numbers) for curve in by_domain.values()]
    known = np.array(values).reshape(len(values), last)
    domains = np.sum(~np.isnan(known), axis=0)
    sums = np.nansum(known, axis=0)
    is_any = domains > 0
    return Curve(numbers[is_any], sums[is_any] / domains[is_any], domains[is_any])


def average_after(curve: Curve, number: int) -> float:
    """The moving average after so many documents; NaN where a domain has not as many."""
    return float(_at(curve, np.array([number]))[0])


def milestones(table: ScoreTable, numbers: Sequence[int] = MILESTONES) -> list[Milestone]:
    """Figures after each number of documents that some domain has."""
    most = np.zeros(len(table.domain_names), dtype=np.int64)
    np.maximum.at(most, table.domain_codes, table.numbers)
    found = []
    for number in numbers:
        is_before = (table.numbers <= number) & (most[table.domain_codes] >= number)
        before = table.select(is_before)
        if len(before):
            latest = before.select(before.numbers > number / 2)
            domains, latest_domains = len(before.domain_names), len(latest.domain_names)
            found.append(
                Milestone(
                    number,
                    domains,
                    macro_estimates(before),
                    macro_estimates(latest),
                    latest_domains,
                )
            )
    return found


def _at(curve: Curve, numbers: NDArray[np.int64]) -> Floats:
    """The curve's value at each number; NaN before its first document and after its last."""
    places = np.searchsorted(curve.numbers, numbers, side="right") - 1
    is_in = (places >= 0) & (numbers <= curve.numbers[-1])
    return np.where(is_in, curve.values[np.maximum(places, 0)], np.nan)
