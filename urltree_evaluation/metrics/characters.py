"""Compare texts by the longest common subsequence of their characters.

The paper of the grandparent filter uses this metric. That paper is cited in
extractors/boilerpipe_grandparent.py.
A run of white space counts as one space. Case and punctuation count.
"""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF

# Highest number of character pairs. Two texts of 160,000 characters each take 1 s; two texts of a
# megabyte would take 40 s. The longest gold in the development corpora has 132,602 characters.
_BOUND = 4 * 10**10


def compare(gold: str, prediction: str, bound: int = _BOUND) -> PRF:
    """Compare two texts by the characters in their longest common subsequence.

    Args:
        gold: text with single spaces, see `segments.collapse_spaces`.
        prediction: text with single spaces.
        bound: highest number of character pairs; texts with more pairs are compared by words.
    """
    if len(gold) * len(prediction) > bound:
        first, second = gold.split(), prediction.split()
        return overlap(LCSseq.similarity(first, second), len(first), len(second))
    return overlap(LCSseq.similarity(gold, prediction), len(gold), len(prediction))
