"""What extractors cost, as a table; measured by `urltree evaluate cost`."""

from __future__ import annotations

from urltree_evaluation.costs.cost import Cost
from urltree_evaluation.statistics.grid import Cell, Grid

_MEBIBYTE = 2**20


def costs_table(cost: Cost) -> Grid:
    """CPU and memory of all extractors, the cheapest first."""
    header = (
        "extractor", "CPU, a bare parse being 1", "first quartile", "median", "third quartile",
        "documents", "left out", "peak memory, MiB", "worst document", "its ratio",
    )  # fmt: skip
    rows: list[list[Cell]] = []
    for name, each in sorted(cost.extractors.items(), key=lambda item: item[1].ratio):
        peak = None if each.peak_memory is None else round(each.peak_memory / _MEBIBYTE)
        worst = each.worst[0] if each.worst else None
        rows.append([
            name, each.ratio, *each.quartiles, each.documents, len(each.left_out), peak,
            f"{worst.corpus}: {worst.id}" if worst else None, worst.ratio if worst else None,
        ])  # fmt: skip
    title = f"cost, on {cost.documents:,} documents, {cost.bytes / _MEBIBYTE:,.0f} MiB of HTML"
    return Grid(title, header, rows)
