"""From how much two texts share to precision, recall and F1: the same for every metric."""

from __future__ import annotations

from urltree_evaluation.score import PRF

ALL = PRF(1.0, 1.0, 1.0)
NOTHING = PRF(0.0, 0.0, 0.0)


def overlap(common: int, gold: int, prediction: int) -> PRF:
    """P, R and F1 of sizes, in whatever the metric counts (thesis, equations 3.8 to 3.10).

    Both empty is 1, one empty or nothing in common is 0 (issue 5): the thesis has infinity there.
    """
    if not gold and not prediction:
        return ALL
    if not common:
        return NOTHING
    return PRF(common / prediction, common / gold, 2 * common / (gold + prediction))
