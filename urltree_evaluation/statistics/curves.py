"""Learning curves: F1 by the number of processed documents of a domain.

    F1
    .9 |            ________      mean of all documents up to this one, as in the paper
    .7 |      _____/              (section 5.2, formula 4, and figure 4: one line for each domain)
    .5 |_____/
       +--------------------
        1    10    100   500      number of the document in its domain, unscored ones included

The first documents lower the mean of all documents for a long time. Therefore milestones also have
the mean of the second half of the documents, which shows the quality that was reached by then. The
paper has no such mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urltree_evaluation.statistics.bootstrap import Estimate, Floats, macro_estimates
from urltree_evaluation.statistics.table import ScoreTable

MILESTONES = (1, 5, 10, 20, 50, 100, 500)  # numbers of documents of a domain


class Curve(NamedTuple):
    """The moving average of one extractor.

    Attributes:
        numbers: numbers of documents in their domain, in rising order; shape (points,).
        values: mean F1 of the scored documents up to each number; shape (points,).
        domains: number of domains over which each value is a mean; shape (points,).
    """

    numbers: NDArray[np.int64]
    values: Floats
    domains: NDArray[np.int64]


class Milestone(NamedTuple):
    """Means over the first `number` documents of each domain that has so many documents.

    Attributes:
        number: number of documents.
        domains: number of domains with at least `number` documents. Milestones have different
            domains, so they do not form one curve.
        average: mean of all documents up to the milestone, by extractor, as in the paper.
        latest: mean of the second half of these documents, by extractor; NaN if none of the second
            half is scored.
        latest_domains: number of domains with a scored document in the second half.
    """

    number: int
    domains: int
    average: dict[str, Estimate]
    latest: dict[str, Estimate]
    latest_domains: int


def curves(table: ScoreTable, name: str) -> dict[str, Curve]:
    """Return the moving average of an extractor in each domain."""
    found = {}
    for code, domain in enumerate(table.domain_names):
        rows = np.flatnonzero(table.domain_codes == code)
        rows = rows[np.argsort(table.numbers[rows], kind="stable")]
        values = table.values[rows, table.column(name)]
        averages = np.cumsum(values) / np.arange(1, len(rows) + 1)
        found[domain] = Curve(table.numbers[rows], averages, np.ones(len(rows), dtype=np.int64))
    return found


def mean_curve(by_domain: dict[str, Curve]) -> Curve:
    """Return the mean of the domains' curves at each number.

    A domain is included from its first to its last scored document. The mean may jump where the
    curve of a domain ends; `domains` has the number of domains at each number.
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
    """Return the moving average after a number of documents; NaN if the domain has fewer."""
    return float(_at(curve, np.array([number]))[0])


def milestones(table: ScoreTable, numbers: Sequence[int] = MILESTONES) -> list[Milestone]:
    """Return the means after each number of documents that at least one domain has."""
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
    """Return the curve's value at each number; NaN before its first document and after its last."""
    places = np.searchsorted(curve.numbers, numbers, side="right") - 1
    is_in = (places >= 0) & (numbers <= curve.numbers[-1])
    return np.where(is_in, curve.values[np.maximum(places, 0)], np.nan)
