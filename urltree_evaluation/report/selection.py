"""Which extractors are drawn where thirty would be too many: the best, and always ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from urltree_evaluation.report.look import Sort, sort_of
from urltree_evaluation.statistics.ranking import Row


def sorts(rows: Sequence[Row]) -> dict[str, Sort]:
    """Which sort each extractor is, by name, best first."""
    return {row.name: sort_of(row.name, is_stream=row.is_stream) for row in rows}


def best_and_ours(rows: Sequence[Row], others: int, ours: int) -> list[str]:
    """The best so many of the others and of ours, in the order of the ranking."""
    left = {True: ours, False: others}
    chosen = []
    for name, sort in sorts(rows).items():
        is_ours = sort == "ours"
        if left[is_ours] > 0:
            left[is_ours] -= 1
            chosen.append(name)
    return chosen


def best_of_each(rows: Sequence[Row], wanted: Mapping[Sort, int]) -> list[str]:
    """The best so many of each sort, sort after sort."""
    by_sort = sorts(rows)
    return [
        name
        for sort, count in wanted.items()
        for name in [name for name in by_sort if by_sort[name] == sort][:count]
    ]
