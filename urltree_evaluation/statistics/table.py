"""A table: one number for each page and extractor, on pages that all of the extractors share.

              trafilatura   justext
page-1  a.org       .97        .91        pages that an extractor was not given, or called a
page-2  a.org       .88        .92        duplicate, are in no row; one that it failed on is 0
page-3  b.org       .00        .75
        macro       .46        .83        mean over domains of the mean over a domain's pages
        micro       .62        .86        mean over pages
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from urltree_evaluation.score import HEADLINE, PRF, Metric
from urltree_evaluation.statistics.score_columns import scored_extractors
from urltree_evaluation.statistics.shared_pages import SharedPages, load_shared
from urltree_evaluation.workspace import Workspace

EQUAL = 1e-9  # means of the same pages in another order differ by less


@dataclass(frozen=True)
class ScoreTable(SharedPages):
    """One number, such as F1 of words, of each page by each extractor.

    Attributes:
        values: from 0 to 1; shape (pages, extractors).
    """

    values: NDArray[np.float64]

    @cached_property
    def domain_means(self) -> NDArray[np.float64]:
        """Mean over each domain's pages; shape (domains, extractors)."""
        sums = np.zeros((len(self.domain_names), len(self.names)))
        np.add.at(sums, self.domain_codes, self.values)
        return sums / self.domain_sizes[:, None]

    def macro(self) -> dict[str, float]:
        """Mean over domains of the mean over a domain's pages; NaN where there is no page."""
        return self._named(_mean(self.domain_means))

    def micro(self) -> dict[str, float]:
        """Mean over pages; NaN where there is no page."""
        return self._named(_mean(self.values))

    def successes(self) -> dict[str, float]:
        """Mean over the pages that are no boundary case to an extractor; not paired (thesis)."""
        with np.errstate(invalid="ignore"):
            means = (self.values * self.is_success).sum(axis=0) / self.is_success.sum(axis=0)
        return self._named(means)

    def ranked(self) -> list[str]:
        """The extractors by macro, best first; by name where several are equal."""
        macro = self.macro()
        return sorted(macro, key=lambda name: (-macro[name], name))

    def select(self, is_kept: NDArray[np.bool_]) -> ScoreTable:
        """The table of some of its pages; `is_kept` has shape (pages,)."""
        at = np.flatnonzero(is_kept)
        return ScoreTable(
            names=self.names,
            ids=tuple(self.ids[row] for row in at),
            domains=tuple(self.domains[row] for row in at),
            numbers=self.numbers[at],
            boundaries=self.boundaries[at],
            values=self.values[at],
        )

    def _named(self, values: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(self.names, values.tolist(), strict=True))


def load_table(  # noqa: PLR0913 - what a table is of
    workspace: Workspace,
    corpus: str,
    metric: Metric = HEADLINE,
    extractors: Sequence[str] | None = None,
    *,
    of: str = "f1",
    sampled: bool = True,
) -> ScoreTable:
    """The table of a metric on the pages that count for all extractors.

    Args:
        workspace: an evaluation's folder.
        corpus: by name; figures of different corpora are never pooled.
        metric: which pages without full gold do not have: they are in no row.
        extractors: by name; without, all that have scores of the whole corpus.
        of: "precision", "recall" or "f1".
        sampled: only pages that every extractor is given; else all that these ones were.
    """
    rows, values = load_shared(workspace, corpus, metric, extractors, sampled=sampled)
    return ScoreTable(**vars(rows), values=values[:, :, PRF._fields.index(of)])


def whole_stream(workspace: Workspace, corpus: str, metric: Metric = HEADLINE) -> ScoreTable:
    """F1 of the stream extractors on all scored pages of a stream, sampled or not.

    Args:
        workspace: an evaluation's folder.
        corpus: by name.
        metric: "words" or "words+title"; others are measured on sampled pages alone.
    """
    runs = {name: workspace.run(corpus, name) for name in scored_extractors(workspace, corpus)}
    streams = [name for name, run in runs.items() if run is not None and run.is_stream]
    return load_table(workspace, corpus, metric, streams, sampled=False)


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of each column; NaN, without a warning, where there is no row."""
    return values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)
