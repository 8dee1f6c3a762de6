"""Bags of words: how often, not in which order (NCE, section 2)."""

from __future__ import annotations

from collections import Counter

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF


def compare(gold: Counter[str], prediction: Counter[str]) -> PRF:
    """Words in both bags, as often as in the lesser, by words said and by words of the gold."""
    return overlap((gold & prediction).total(), gold.total(), prediction.total())
