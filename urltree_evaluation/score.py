"""The score of a prediction: one record for each page.

scores/CORPUS/EXTRACTOR/PART.jsonl.zst    one Score a line
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
    """Counts of segments: required ones found and missed, forbidden ones found and absent."""

    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one page.

    Attributes:
        id: id of the page.
        domain: domain of the page; averages and resamples are made by domain.
        number: number of the page in its domain, as in its Prediction.
        is_sampled: as in its Prediction.
        boundary: kind of boundary case; None for a success. In the headline metric "both empty" is
            1 and the others are 0. The mean of successes excludes all of them (thesis).
        metrics: precision, recall and F1 by metric. Pages that are not sampled have only the two
            metrics of words. Pages without full gold have none.
        segments: counts of segments; None for a page whose gold has none.
        is_duplicate: whether the extractor reported a duplicate; then nothing is scored.
    """

    id: str
    domain: str
    number: int
    is_sampled: bool
    boundary: Boundary | None = None
    metrics: dict[Metric, PRF] = field(default_factory=dict)
    segments: Segments | None = None
    is_duplicate: bool = False
