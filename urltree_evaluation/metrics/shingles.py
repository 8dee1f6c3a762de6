"""Shingles of four words, counted like scrapinghub's article-extraction-benchmark.

    "A b c d e" ──▶ (A b c d) (b c d e)        "A b" ──▶ (A b)

A word is a run of letters, digits and underscores of any script, with its case. A text of fewer
than four words is one shingle.
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
    """Count the occurrences of each shingle in a text."""
    found = _WORD.findall(text)
    if len(found) < _SIZE:
        return Counter([tuple(found)] if found else ())
    return Counter(zip(*(found[start:] for start in range(_SIZE)), strict=False))


def compare(gold: Shingles, prediction: Shingles) -> PRF:
    """Compare two texts; if a shingle occurs m and n times, min(m, n) occurrences are common."""
    return overlap((gold & prediction).total(), gold.total(), prediction.total())
