"""Who wins where: the best extractor of each domain, and by how much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urltree.evaluation.statistics.table import Table

_EQUAL = 1e-9  # means of the same pages in another order differ by less


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


def winners(table: Table) -> list[Winner]:
    """The best extractors of each domain, in the order of the table."""
    return [
        _winner(table, domain, int(pages), means.tolist())
        for domain, pages, means in zip(
            table.domain_names, table.domain_sizes, table.domain_means, strict=True
        )
    ]


def wins(table: Table) -> dict[str, int]:
    """Domains on which each extractor is the best, or one of several that are equal."""
    found = winners(table)
    return {name: sum(name in winner.names for winner in found) for name in table.names}


def _winner(table: Table, domain: str, pages: int, means: list[float]) -> Winner:
    value, *others = sorted(means, reverse=True)
    names = tuple(
        name for name, mean in zip(table.names, means, strict=True) if value - mean < _EQUAL
    )
    return Winner(domain, pages, names, value, value - others[0] if others else np.nan)
