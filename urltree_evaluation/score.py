"""What a prediction is worth: one record for each page.

scores/CORPUS/EXTRACTOR/PART.jsonl.zst    Score a line
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Boundary = Literal[
    "both empty", "empty gold", "empty result", "no overlap", "exception", "time", "memory", "crash"
]
Metric = Literal["words", "words+title", "words-ascii", "matcher", "bag", "characters", "shingles"]

HEADLINE: Metric = "words"


class PRF(NamedTuple):
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


class Segments(NamedTuple):
    """Counts of a page's segments: must-haves found and missed, must-nots found and left out."""

    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int


@dataclass(frozen=True, slots=True)
class Score:
    """One page's.

    Attributes:
        domain: of the page; what figures are averaged over and resampled by.
        number, is_sampled: as in its Prediction.
        boundary: which boundary case it is, None for a success. In the headline "both empty" is 1
            and the others are 0; the column of successes leaves them all out (thesis).
        metrics: by name. Pages that are not sampled have the two of words alone; pages without
            full gold have none.
        segments: of pages whose gold is segments.
        is_duplicate: it was a duplicate to this extractor; nothing is scored.
    """

    id: str
    domain: str
    number: int
    is_sampled: bool
    boundary: Boundary | None = None
    metrics: dict[Metric, PRF] = field(default_factory=dict)
    segments: Segments | None = None
    is_duplicate: bool = False
