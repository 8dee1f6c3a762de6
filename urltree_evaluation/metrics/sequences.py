"""The headline metric: compare texts by the longest common subsequence of their words."""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF


def compare(gold: list[str], prediction: list[str]) -> PRF:
    """Compare two texts by the words in their longest common subsequence."""
    return overlap(LCSseq.similarity(gold, prediction), len(gold), len(prediction))
