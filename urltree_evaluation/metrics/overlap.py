"""Compute precision, recall and F1 from the size of an overlap, for all metrics."""

from __future__ import annotations

from urltree_evaluation.score import PRF

ALL = PRF(1.0, 1.0, 1.0)
NOTHING = PRF(0.0, 0.0, 0.0)


def overlap(common: int, gold: int, prediction: int) -> PRF:
    """Return precision, recall and F1 from sizes in any unit (thesis, equations 3.8 to 3.10).

    Two empty texts give 1. If one text is empty or the texts have nothing in common, the result is
    0, where the thesis has infinity.
    """
    if not gold and not prediction:
        return ALL
    if not common:
        return NOTHING
    return PRF(common / prediction, common / gold, 2 * common / (gold + prediction))
