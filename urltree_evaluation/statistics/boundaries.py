"""Boundary cases: on how many pages of a table there was nothing to compare, by kind."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from urltree_evaluation.score import Boundary
from urltree_evaluation.statistics.shared_pages import SharedPages

KINDS: tuple[Boundary, ...] = get_args(Boundary)


def boundaries(rows: SharedPages) -> dict[str, dict[Boundary, int]]:
    """Pages of each kind, of each extractor; a kind that it does not have is 0."""
    found = {}
    for column, name in enumerate(rows.names):
        counts = Counter(rows.boundaries[:, column].tolist())
        found[name] = {kind: counts[kind] for kind in KINDS}
    return found
