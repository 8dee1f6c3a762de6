"""A table with one number for each page and extractor; it has only pages that all extractors share.

              trafilatura   justext
page-1  a.org       .97        .91        a page that an extractor was not given, or reported as a
page-2  a.org       .88        .92        duplicate, is not in the table; a failure is 0
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

EQUAL = 1e-9  # tolerance for equal means, whose rounding depends on the order of the pages


@dataclass(frozen=True)
class ScoreTable(SharedPages):
    """One number, such as F1 of words, of each page by each extractor.

    Attributes:
        values: scores from 0 to 1; shape (pages, extractors).
    """

    values: NDArray[np.float64]

    @cached_property
    def domain_means(self) -> NDArray[np.float64]:
        """The mean over each domain's pages; shape (domains, extractors)."""
        sums = np.zeros((len(self.domain_names), len(self.names)))
        np.add.at(sums, self.domain_codes, self.values)
        return sums / self.domain_sizes[:, None]

    def macro(self) -> dict[str, float]:
        """Return the macro mean of each extractor: the mean of the domains' means.

        The mean is NaN if the table has no pages.
        """
        return self._named(_mean(self.domain_means))

    def micro(self) -> dict[str, float]:
        """Return the mean over pages of each extractor; NaN if the table has no pages."""
        return self._named(_mean(self.values))

    def successes(self) -> dict[str, float]:
        """Return the mean of each extractor over its own successes (thesis).

        Extractors have successes on different pages, so these means are not paired.
        """
        with np.errstate(invalid="ignore"):
            means = (self.values * self.is_success).sum(axis=0) / self.is_success.sum(axis=0)
        return self._named(means)

    def ranked(self) -> list[str]:
        """Return the extractors by macro mean, the best first; equal ones are sorted by name."""
        macro = self.macro()
        return sorted(macro, key=lambda name: (-macro[name], name))

    def select(self, is_kept: NDArray[np.bool_]) -> ScoreTable:
        """Return a table with some of the pages; `is_kept` has shape (pages,)."""
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


def load_table(  # noqa: PLR0913 - each parameter selects a part of the scores
    workspace: Workspace,
    corpus: str,
    metric: Metric = HEADLINE,
    extractors: Sequence[str] | None = None,
    *,
    of: str = "f1",
    sampled: bool = True,
) -> ScoreTable:
    """Return the table of a metric on the pages that all extractors share.

    Args:
        workspace: the work folder.
        corpus: name of the corpus; results on different corpora are never combined.
        metric: name of the metric. Pages without full gold have no metric and are not in the table.
        extractors: names of extractors; None selects all that have scores for the whole corpus.
        of: value of the metric: "precision", "recall" or "f1".
        sampled: whether to use only the sampled pages, which every extractor is given.
    """
    rows, values = load_shared(workspace, corpus, metric, extractors, sampled=sampled)
    return ScoreTable(**vars(rows), values=values[:, :, PRF._fields.index(of)])


def whole_stream(workspace: Workspace, corpus: str, metric: Metric = HEADLINE) -> ScoreTable:
    """Return the F1 of the stream extractors on all scored pages of a corpus, sampled or not.

    Args:
        workspace: the work folder.
        corpus: name of the corpus.
        metric: "words" or "words+title"; other metrics exist for sampled pages only.
    """
    runs = {name: workspace.run(corpus, name) for name in scored_extractors(workspace, corpus)}
    streams = [name for name, run in runs.items() if run is not None and run.is_stream]
    return load_table(workspace, corpus, metric, streams, sampled=False)


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column; NaN without a warning if there are no rows."""
    return values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)
