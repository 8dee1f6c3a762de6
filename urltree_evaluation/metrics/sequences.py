"""Sequences of words by their true longest common subsequence: the headline (issue 5)."""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF


def compare(gold: list[str], prediction: list[str]) -> PRF:
    """Words in the longest common subsequence, by words said and by words of the gold."""
    return overlap(LCSseq.similarity(gold, prediction), len(gold), len(prediction))
