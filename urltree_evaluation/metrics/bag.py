"""Bags of words: how often each word occurs, without order (the paper of NCE, section 2)."""

from __future__ import annotations

from collections import Counter

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF


def compare(gold: Counter[str], prediction: Counter[str]) -> PRF:
    """Compare two bags; if a word occurs m and n times, min(m, n) occurrences are common."""
    return overlap((gold & prediction).total(), gold.total(), prediction.total())
