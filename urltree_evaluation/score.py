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
    """Numbers of segments: required ones found and missed, forbidden ones found and absent."""

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
        is_sampled: whether the page is sampled, as in its Prediction.
        boundary: kind of boundary case; None for a success. In the headline metric, "both empty"
            scores 1 and each other kind scores 0. The mean of successes excludes all boundary
            cases (thesis).
        metrics: precision, recall and F1 by metric. A page that is not sampled has only the metrics
            "words" and "words+title". A page without full gold has no metric.
        segments: counts of segments; None if the gold of the page has no segments.
        is_duplicate: whether the extractor reported a duplicate; a duplicate is not scored.
    """

    id: str
    domain: str
    number: int
    is_sampled: bool
    boundary: Boundary | None = None
    metrics: dict[Metric, PRF] = field(default_factory=dict)
    segments: Segments | None = None
    is_duplicate: bool = False
