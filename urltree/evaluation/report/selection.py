"""Which extractors are drawn where thirty would be too many: the best, and always ours."""

from __future__ import annotations

from collections.abc import Sequence

from urltree.evaluation.report.look import Sort, sort_of
from urltree.evaluation.statistics.ranking import Row


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


def streams_and_best(rows: Sequence[Row], streams: int, single: int) -> list[str]:
    """The best so many streams, ours first among them, and the best single-page extractors."""
    by_sort = sorts(rows)
    learning = sorted(
        (name for name, sort in by_sort.items() if sort != "single page"),
        key=lambda name: by_sort[name] != "ours",
    )
    reading = [name for name, sort in by_sort.items() if sort == "single page"]
    return learning[:streams] + reading[:single]
