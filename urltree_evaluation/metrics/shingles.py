"""Shingles of four words, as scrapinghub's article-extraction-benchmark counts them.

    "A b c d e" ──▶ (A b c d) (b c d e)        "A b" ──▶ (A b)

Its words are runs of letters, digits and underscores of any script, case kept. A text of fewer than
four words is one shingle of them all.
"""

from __future__ import annotations

import re
from collections import Counter

from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.score import PRF

_SIZE = 4
_WORD = re.compile(r"\w+")

Shingles = Counter[tuple[str, ...]]


def count_shingles(text: str) -> Shingles:
    """How often each shingle is in a text."""
    found = _WORD.findall(text)
    if len(found) < _SIZE:
        return Counter([tuple(found)] if found else ())
    return Counter(zip(*(found[start:] for start in range(_SIZE)), strict=False))


def compare(gold: Shingles, prediction: Shingles) -> PRF:
    """Shingles in both, as often as in the lesser, by shingles said and by those of the gold."""
    return overlap((gold & prediction).total(), gold.total(), prediction.total())
