"""A table with a row for each domain and a column for each extractor, shaded by F1.

The higher the F1, the darker the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from urltree_evaluation.statistics.table import ScoreTable
from urltree_evaluation.statistics.winners import winners

SHADES = 8
_FLOOR = 0.4  # F1 with the lightest shade; differences between lower values matter little


class HeatCell(NamedTuple):
    """The mean F1 of one extractor on one domain; the shade is from 0 (light) to SHADES - 1."""

    value: float
    shade: int
    is_best: bool


class HeatRow(NamedTuple):
    """One domain with its number of pages, the cell of each extractor, and its best extractors."""

    domain: str
    pages: int
    cells: tuple[HeatCell, ...]
    winners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeatTable:
    """A table with a column for each extractor and a row for each domain.

    Attributes:
        names: names of the extractors, in the order of the columns.
        lines: the rows; the domain with the lowest mean comes first.
    """

    names: tuple[str, ...]
    lines: tuple[HeatRow, ...]


def heat_table(table: ScoreTable, names: Sequence[str]) -> HeatTable:
    """Return the mean F1 of the named extractors on each domain.

    The best extractor of a domain is selected from all extractors, including those not in `names`.
    """
    columns = [table.column(name) for name in names]
    means = table.domain_means[:, columns]
    best = [winner.names for winner in winners(table)]
    order = np.argsort(means.mean(axis=1), kind="stable")
    lines = [
        HeatRow(
            table.domain_names[row],
            int(table.domain_sizes[row]),
            tuple(
                HeatCell(value, _shade(value), name in best[row])
                for name, value in zip(names, means[row].tolist(), strict=True)
            ),
            best[row],
        )
        for row in order.tolist()
    ]
    return HeatTable(tuple(names), tuple(lines))


def _shade(value: float) -> int:
    share = (value - _FLOOR) / (1 - _FLOOR)
    return min(max(int(share * SHADES), 0), SHADES - 1)
