"""Duplicates: how many each extractor found, by the step of normalisation that found them."""

from __future__ import annotations

from collections import Counter

from urltree_evaluation.statistics.score_columns import read, scored
from urltree_evaluation.workspace import Workspace


def duplicates(workspace: Workspace, corpus: str) -> dict[str, dict[str, int]]:
    """Duplicates by step of each extractor that found any, most frequent step first."""
    found = {}
    for name in scored(workspace, corpus):
        if read(workspace, corpus, name).is_duplicate.any():
            steps = Counter(
                prediction.message
                for part in workspace.corpora[corpus].parts
                for prediction in workspace.predictions(corpus, name, part)
                if prediction.failure == "duplicate"
            )
            found[name] = dict(steps.most_common())
    return found
