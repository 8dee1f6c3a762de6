"""Who wins where: a table of domains by extractors, darker where F1 is higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from urltree_evaluation.statistics.table import ScoreTable
from urltree_evaluation.statistics.winners import winners

SHADES = 8
_FLOOR = 0.4  # what is below is as light as can be: the differences that matter are above


class HeatCell(NamedTuple):
    """One extractor on one domain; shade from 0, light, to SHADES - 1."""

    value: float
    shade: int
    is_best: bool


class HeatRow(NamedTuple):
    """One domain, with so many pages."""

    domain: str
    pages: int
    cells: tuple[HeatCell, ...]
    winners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeatTable:
    """Extractors, and a line for each domain.

    Attributes:
        names: of the columns.
        lines: those on which all do worst first.
    """

    names: tuple[str, ...]
    lines: tuple[HeatRow, ...]


def heat_table(table: ScoreTable, names: Sequence[str]) -> HeatTable:
    """Mean F1 of the named extractors on each domain; the winner may be one that is not named."""
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
