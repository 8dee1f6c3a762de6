"""An extractor's scores on a corpus as numpy columns, cached until their files change.

scores/CORPUS/EXTRACTOR/*.jsonl.zst ──▶ Columns ──▶ rows that several extractors share
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from urltree_evaluation.extractors.nce.constants import EXPLORATION
from urltree_evaluation.score import PRF, Boundary, Metric, Score
from urltree_evaluation.workspace import Workspace

FITTED: Final = {"nce": EXPLORATION}
"""Corpus on which the constants of an extractor were chosen, by the name of the extractor.

The extractor is not ranked on this corpus.
"""

_KEPT = 256  # highest number of cached Columns; a report thus reads each file only once
_NO_PRF = PRF(np.nan, np.nan, np.nan)
_NO_SEGMENTS = (np.nan,) * 4


@dataclass(frozen=True, slots=True)
class Columns:
    """All n scores of one extractor on one corpus, in the order of the corpus.

    Attributes:
        ids: ids of the pages.
        domains: domains of the pages. If the domain of a page is unknown, its id is used, because
            published corpora have about one page of each site.
        numbers: number of each page in its domain, from 1; shape (n,).
        is_sampled: whether each page is sampled, as in Score; shape (n,).
        is_duplicate: whether each page is a duplicate, as in Score; shape (n,).
        boundaries: boundary case of each page, None for a success; shape (n,).
        metrics: precision, recall and F1 by each metric, NaN if unknown; shape (n, 3).
        segments: the four counts of Segments, NaN if unknown; shape (n, 4).
    """

    ids: list[str]
    domains: list[str]
    numbers: NDArray[np.int64]
    is_sampled: NDArray[np.bool_]
    is_duplicate: NDArray[np.bool_]
    boundaries: NDArray[np.object_]
    metrics: dict[Metric, NDArray[np.float64]]
    segments: NDArray[np.float64]

    def values(self, metric: Metric | None) -> NDArray[np.float64]:
        """Return the values of a metric, shape (n, 3); None returns segments, shape (n, 4)."""
        return self.segments if metric is None else self.metrics[metric]

    def rows(self, metric: Metric | None, *, sampled: bool) -> dict[str, int]:
        """Return the row of each page that has a score and is no duplicate, by the page's id.

        If `sampled` is true, only sampled pages are returned.
        """
        counts = ~np.isnan(self.values(metric)[:, 0]) & ~self.is_duplicate
        if sampled:
            counts &= self.is_sampled
        return {self.ids[row]: int(row) for row in np.flatnonzero(counts)}


def read_columns(workspace: Workspace, corpus: str, extractor: str) -> Columns:
    """Read the scores of an extractor on a corpus."""
    return _read(workspace.path, corpus, extractor, _state(workspace, corpus, extractor))


def scored_extractors(workspace: Workspace, corpus: str) -> list[str]:
    """Return the extractors with scores of every part of a corpus, sorted by name.

    Extractors whose constants were fitted on the corpus are excluded.
    """
    names = [name for name in workspace.extractors(corpus) if FITTED.get(name) != corpus]
    return [name for name in names if all(_state(workspace, corpus, name))]


def _state(workspace: Workspace, corpus: str, extractor: str) -> tuple[tuple[int, int] | None, ...]:
    """Return the time and size of each part's file, None if it is missing, as a key for a cache."""
    parts = workspace.corpora[corpus].parts
    files = [workspace.scores_file(corpus, extractor, part) for part in parts]
    stats = [file.stat() if file.exists() else None for file in files]
    return tuple(stat and (stat.st_mtime_ns, stat.st_size) for stat in stats)


@lru_cache(maxsize=_KEPT)
def _read(path: Path, corpus: str, extractor: str, _state: object) -> Columns:
    scores = list(Workspace(path).scores(corpus, extractor))
    return Columns(
        ids=[score.id for score in scores],
        domains=[score.domain or score.id for score in scores],
        numbers=np.array([score.number for score in scores], dtype=np.int64),
        is_sampled=np.array([score.is_sampled for score in scores], dtype=bool),
        is_duplicate=np.array([score.is_duplicate for score in scores], dtype=bool),
        boundaries=_boundaries(scores),
        metrics={metric: _metric(scores, metric) for metric in get_args(Metric)},
        segments=_shaped([score.segments or _NO_SEGMENTS for score in scores], 4),
    )


def _boundaries(scores: Sequence[Score]) -> NDArray[np.object_]:
    found: list[Boundary | None] = [score.boundary for score in scores]
    return np.array(found, dtype=object)


def _metric(scores: Sequence[Score], metric: Metric) -> NDArray[np.float64]:
    return _shaped([score.metrics.get(metric, _NO_PRF) for score in scores], len(PRF._fields))


def _shaped(values: Sequence[Sequence[float]], width: int) -> NDArray[np.float64]:
    """Return rows of this width as an array, three times as fast as `np.array`."""
    return np.fromiter(chain.from_iterable(values), np.float64).reshape(-1, width)
