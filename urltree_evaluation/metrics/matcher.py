"""The thesis' metric: difflib's matching blocks of words, with gold first (thesis, figure 4.4)."""

from __future__ import annotations

from cydifflib import SequenceMatcher

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF


def compare(gold: list[str], prediction: list[str]) -> PRF:
    """Compare two texts by the words in their matching blocks."""
    blocks = SequenceMatcher(None, gold, prediction).get_matching_blocks()
    return overlap(sum(block.size for block in blocks), len(gold), len(prediction))
