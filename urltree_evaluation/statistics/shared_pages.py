"""The pages that several extractors share, with their domains and boundary cases.

A page is shared if every extractor was given the page, the page was scored, and no extractor
reported it as a duplicate. A page on which an extractor failed is also shared; its score is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from urltree_evaluation.score import Boundary, Metric
from urltree_evaluation.statistics.score_columns import Columns, read_columns, scored_extractors
from urltree_evaluation.workspace import Workspace


@dataclass(frozen=True)
class SharedPages:
    """The shared pages of several extractors. ScoreTable and SegmentTable add scores to them.

    Attributes:
        names: names of the extractors, in the order of the columns.
        ids: ids of the pages, in the order of the corpus.
        domains: domain of each page; if it is unknown, the id of the page.
        numbers: number of each page in its domain, from 1; shape (pages,).
        boundaries: boundary cases, None for a success; shape (pages, extractors).
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    domains: tuple[str, ...]
    numbers: NDArray[np.int64]
    boundaries: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def domain_names(self) -> tuple[str, ...]:
        """Each domain once, in the order of its first page."""
        return tuple(dict.fromkeys(self.domains))

    @cached_property
    def domain_codes(self) -> NDArray[np.int64]:
        """The index of each page's domain in `domain_names`; shape (pages,)."""
        codes = {domain: code for code, domain in enumerate(self.domain_names)}
        return np.array([codes[domain] for domain in self.domains], dtype=np.int64)

    @cached_property
    def domain_sizes(self) -> NDArray[np.int64]:
        """The number of pages of each domain; shape (domains,)."""
        return np.bincount(self.domain_codes, minlength=len(self.domain_names))

    @cached_property
    def is_success(self) -> NDArray[np.bool_]:
        """Whether a page is not a boundary case; shape (pages, extractors)."""
        cases = [case is None for case in self.boundaries.ravel()]
        return np.array(cases, dtype=bool).reshape(self.boundaries.shape)

    def column(self, name: str) -> int:
        """Return the index of an extractor's column."""
        return self.names.index(name)


def load_shared(
    workspace: Workspace,
    corpus: str,
    metric: Metric | None,
    extractors: Sequence[str] | None = None,
    *,
    sampled: bool = True,
) -> tuple[SharedPages, NDArray[np.float64]]:
    """Return the shared pages of extractors on a corpus, with their scores.

    Args:
        workspace: the work folder.
        corpus: name of the corpus; results on different corpora are never combined.
        metric: metric that a page must have; None for segments.
        extractors: names of extractors; None selects all that have scores for the whole corpus.
        sampled: whether to use only the sampled pages, which every extractor is given.

    Returns:
        The pages and their scores. For a metric, the scores are precision, recall and F1, of shape
        (pages, extractors, 3). For segments, they are counts, of shape (pages, extractors, 4).
    """
    names = scored_extractors(workspace, corpus) if extractors is None else list(extractors)
    columns = [read_columns(workspace, corpus, name) for name in names]
    if not columns:
        nothing = np.zeros((0, 0), dtype=object)
        return SharedPages((), (), (), np.zeros(0, dtype=np.int64), nothing), np.zeros((0, 0, 4))
    at = _common(columns, metric, sampled=sampled)
    first, in_first, own = columns[0], at[:, 0], list(zip(columns, at.T, strict=True))
    rows = SharedPages(
        names=tuple(names),
        ids=tuple(first.ids[row] for row in in_first),
        domains=tuple(first.domains[row] for row in in_first),
        numbers=first.numbers[in_first],
        boundaries=np.stack([each.boundaries[row] for each, row in own], axis=1),
    )
    return rows, np.stack([each.values(metric)[row] for each, row in own], axis=1)


def _common(
    columns: Sequence[Columns], metric: Metric | None, *, sampled: bool
) -> NDArray[np.int64]:
    """Return the row of each shared page in the Columns of each extractor."""
    rows = [each.rows(metric, sampled=sampled) for each in columns]
    ids = set(rows[0]).intersection(*rows[1:])
    found = [[each[page] for each in rows] for page in rows[0] if page in ids]
    return np.array(found, dtype=np.int64).reshape(-1, len(columns))


BOUNDARY_CASES: tuple[Boundary, ...] = get_args(Boundary)


def count_boundary_cases(rows: SharedPages) -> dict[str, dict[Boundary, int]]:
    """Count the boundary cases of each extractor by kind."""
    found = {}
    for column, name in enumerate(rows.names):
        counts = Counter(rows.boundaries[:, column].tolist())
        found[name] = {kind: counts[kind] for kind in BOUNDARY_CASES}
    return found
