"""Precision, recall, F1 and accuracy of segments, computed from counts summed over pages.

As in trafilatura's evaluation, a required segment that is found is a true positive, and a forbidden
segment that is absent is a true negative. Because counts are summed, a page with more segments has
more weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from urltree_evaluation.statistics.bootstrap import (
    RESAMPLES,
    SEED,
    Estimate,
    Floats,
    confidence_interval,
    draw_resamples,
    resampled_sums,
)
from urltree_evaluation.statistics.shared_pages import SharedPages, load_shared
from urltree_evaluation.workspace import Workspace


@dataclass(frozen=True)
class SegmentTable(SharedPages):
    """The counts of segments for each page and extractor.

    Attributes:
        counts: true positives, false negatives, false positives, true negatives; shape (pages,
            extractors, 4).
    """

    counts: Floats


class SegmentFigures(NamedTuple):
    """The quality of one extractor, measured with segments; NaN where a divisor is 0.

    Attributes:
        precision: true positives divided by all segments that were found.
        recall: true positives divided by all required segments.
        f1: harmonic mean of precision and recall.
        accuracy: share of segments that were handled correctly.
        behind: F1 minus the F1 of the best extractor, with the same resamples; None for the
            best extractor.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate
    accuracy: Estimate
    behind: Estimate | None


def load_segments(
    workspace: Workspace, corpus: str, extractors: Sequence[str] | None = None
) -> SegmentTable:
    """Return the counts of segments on the pages that all extractors share."""
    rows, counts = load_shared(workspace, corpus, None, extractors)
    return SegmentTable(**vars(rows), counts=counts[:, :, :4])


def segment_estimates(
    table: SegmentTable, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, SegmentFigures]:
    """Return the quality of each extractor, measured with segments."""
    drawn = draw_resamples(table, resamples, seed)
    values = {name: rates(table.counts[:, at].sum(axis=0)) for at, name in enumerate(table.names)}
    samples = {
        name: rates(resampled_sums(drawn, table.counts[:, at]))
        for at, name in enumerate(table.names)
    }
    best = min(values, key=lambda name: (-values[name][2], name))
    found = {}
    for name, own in samples.items():
        gap = _figure(values[name][2] - values[best][2], own[:, 2] - samples[best][:, 2])
        precision, recall, f1, accuracy = map(_figure, values[name].tolist(), own.T)
        behind = None if name == best else gap
        found[name] = SegmentFigures(precision, recall, f1, accuracy, behind)
    return found


def rates(sums: Floats) -> Floats:
    """Return precision, recall, F1 and accuracy of segments.

    Args:
        sums: sums of the four counts, in the order of Segments; shape (…, 4).
    """
    true_positives, false_negatives, false_positives, true_negatives = np.moveaxis(sums, -1, 0)
    found, wanted = true_positives + false_positives, true_positives + false_negatives
    right = true_positives + true_negatives
    with np.errstate(invalid="ignore"):
        return np.stack(
            [
                true_positives / found,
                true_positives / wanted,
                2 * true_positives / (found + wanted),
                right / sums.sum(axis=-1),
            ],
            axis=-1,
        )


def _figure(value: float, samples: Floats) -> Estimate:
    return Estimate(float(value), *confidence_interval(samples))
