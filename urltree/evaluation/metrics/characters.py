"""Characters by their longest common subsequence (the grandparent paper measures by characters).

Runs of white space count as one space; case and punctuation count as they are.
"""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from urltree.evaluation.metrics.overlap import overlap
from urltree.evaluation.score import PRF


def compare(gold: str, prediction: str) -> PRF:
    """Characters in the longest common subsequence, by those said and by those of the gold.

    Args:
        gold: with single spaces, see `segments.one_spaced`.
        prediction: alike.
    """
    return overlap(LCSseq.similarity(gold, prediction), len(gold), len(prediction))
