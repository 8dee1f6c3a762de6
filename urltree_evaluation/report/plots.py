"""Select the charts of a corpus with their data and captions.

Each plot_… function makes one chart, or returns None if the corpus has no data for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from urltree_evaluation.report.charts import boxes, cost, histograms, learning, ranking
from urltree_evaluation.report.groups import Group, best_and_ours, best_of_each, group_by_name
from urltree_evaluation.statistics.curves import Curve, curves, mean_curve
from urltree_evaluation.statistics.ranking import Ranking
from urltree_evaluation.statistics.table import ScoreTable, load_table, whole_stream
from urltree_evaluation.workspace import Workspace

_LISTED = 60  # highest number of domains that are drawn separately
_PAGES = 3  # lowest mean number of pages of a domain at which domains are shown separately
_PANELS = 3  # highest number of panels for our extractors, and for other extractors


class Plot(NamedTuple):
    """A figure with its heading and caption."""

    heading: str
    caption: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class ChartData:
    """The data for the charts of a corpus.

    Attributes:
        workspace: the work folder.
        ranked: the ranking of the corpus.
        ratios: CPU time of each extractor as a multiple of a bare parse; empty if costs were not
            measured.
    """

    workspace: Workspace
    ranked: Ranking
    ratios: Mapping[str, float]

    @property
    def groups(self) -> dict[str, Group]:
        """The group of each extractor by its name, the best extractor first."""
        return group_by_name(self.ranked.rows)

    def table(self, of: str = "f1") -> ScoreTable:
        """Return the F1, precision or recall of words, for each page and extractor."""
        return load_table(self.workspace, self.ranked.corpus.name, of=of)


def has_domains(table: ScoreTable) -> bool:
    """Return whether the domains are few enough, and have enough pages, to be listed."""
    count = len(table.domain_names)
    return 1 < count <= _LISTED and len(table) >= _PAGES * count


def plot_ranking(measured: ChartData) -> Plot | None:
    """Plot all extractors with their intervals."""
    kinds = measured.groups
    dots = [
        ranking.Dot(row.name, kinds[row.name], *row.headline)
        for row in measured.ranked.rows
        if not np.isnan(row.headline.value)
    ]
    if not dots:
        return None
    caption = (
        f"Based on {measured.ranked.documents:,} documents. Whiskers contain 95 % of "
        "1,000 resamples of domains, then pages. Two extractors whose whiskers overlap may still "
        "differ significantly, because differences are paired (see the table)."
    )
    return Plot("Ranking", caption, ranking.ranking_chart(dots, measured.ranked.measure))


def plot_histograms(measured: ChartData) -> Plot | None:
    """Plot histograms of precision, recall and F1."""
    tables = [measured.table(of) for of in ("precision", "recall", "f1")]
    if not len(tables[0]):
        return None
    values = {
        name: np.stack([table.values[:, table.column(name)] for table in tables], axis=1)
        for name in measured.groups
    }
    caption = (
        "The distribution of documents in 20 bins. Good extractors differ mainly in the left "
        "tail: the documents on which they fail."
    )
    figure = histograms.histograms(values, measured.groups)
    return Plot("Histograms of precision, recall and F1", caption, figure)


def plot_domains(measured: ChartData) -> Plot | None:
    """Plot a box of F1 for each domain, or for each extractor if the domains cannot be listed."""
    table = measured.table()
    if not len(table):
        return None
    whiskers = "Boxes are quartiles, whiskers extend to 1.5 times their distance, dots lie beyond."
    if has_domains(table):
        names = best_and_ours(measured.ranked.rows, _PANELS, _PANELS)
        codes = table.domain_codes
        values = {
            name: {
                domain: table.values[codes == code, table.column(name)]
                for code, domain in enumerate(table.domain_names)
            }
            for name in names
        }
        order = [table.domain_names[i] for i in np.argsort(-table.domain_means.mean(axis=1))]
        figure = boxes.by_domain(values, measured.groups, order)
        caption = f"F1 of each domain's documents, for the best extractors and ours. {whiskers}"
        return Plot("F1 by domain", caption, figure)
    samples = {name: table.values[:, table.column(name)] for name in measured.groups}
    caption = f"F1 of all documents, for each extractor. {whiskers}"
    return Plot("F1 by extractor", caption, boxes.by_extractor(samples, measured.groups))


def plot_cost(measured: ChartData) -> Plot | None:
    """Plot quality against cost."""
    spots = [
        cost.Spot(
            row.name, measured.groups[row.name], measured.ratios[row.name], row.headline.value
        )
        for row in measured.ranked.rows
        if measured.ratios.get(row.name, 0) > 0 and not np.isnan(row.headline.value)
    ]
    if not spots:
        return None
    caption = (
        "Quality against cost: up and to the left is better. Diamonds are ours, squares are other "
        "stream extractors, and circles are extractors for single pages."
    )
    return Plot("Quality against cost", caption, cost.cost_chart(spots, measured.ranked.measure))


def plot_learning(measured: ChartData) -> Plot | None:
    """Plot the learning curves of a stream, as a mean over its domains."""
    by_name = _curves(measured, {"ours": 4, "stream": 3, "single page": 2})
    means = {name: _thin_out(mean_curve(by_domain)) for name, by_domain in by_name.items()}
    lines = [
        learning.PlottedCurve(
            name, measured.groups[name], curve.numbers.tolist(), curve.values.tolist()
        )
        for name, curve in means.items()
        if len(curve.numbers)
    ]
    if not lines:
        return None
    caption = (
        "F1 of words: the mean of all documents of a domain up to this one, then over domains. "
        "Curves end where fewer than half of the domains are left, and may jump where a domain "
        "ends. Extractors for single pages do not learn: their curves show how difficult the "
        "documents are."
    )
    return Plot("Learning curves", caption, learning.learning_chart(lines, "F1 of words so far"))


def plot_learning_by_domain(measured: ChartData) -> Plot | None:
    """Plot the learning curves of a stream, one panel for each domain."""
    by_name = _curves(measured, {"ours": 1, "stream": 1, "single page": 1})
    domains = sorted({domain for by_domain in by_name.values() for domain in by_domain})
    if not 1 < len(domains) <= _LISTED:
        return None
    panels = {
        domain: [
            learning.PlottedCurve(
                name, measured.groups[name], curve.numbers.tolist(), curve.values.tolist()
            )
            for name, by_domain in by_name.items()
            if domain in by_domain
            for curve in [_thin_out(by_domain[domain])]
        ]
        for domain in domains
    }
    caption = "The same for each domain, with the best extractor of each group."
    figure = learning.learning_chart_by_domain(panels, "F1 of words so far")
    return Plot("Learning curves by domain", caption, figure)


ALL: Final[tuple[Callable[[ChartData], Plot | None], ...]] = (
    plot_ranking,
    plot_histograms,
    plot_domains,
    plot_learning,
    plot_learning_by_domain,
    plot_cost,
)


def _curves(measured: ChartData, wanted: Mapping[Group, int]) -> dict[str, dict[str, Curve]]:
    """Return moving averages by extractor and domain; empty if the corpus is not a stream."""
    workspace, corpus = measured.workspace, measured.ranked.corpus
    if corpus.kind != "stream":
        return {}
    whole, sampled = whole_stream(workspace, corpus.name), measured.table()
    return {
        name: curves(whole if name in whole.names else sampled, name)
        for name in best_of_each(measured.ranked.rows, wanted)
    }


def _thin_out(curve: Curve, points: int = 40) -> Curve:
    """Return points that are evenly spaced on a logarithmic axis.

    The points end where fewer than half of the domains have documents.
    """
    long_enough = np.flatnonzero(curve.domains * 2 >= curve.domains.max(initial=0))
    numbers = curve.numbers[long_enough]
    if not len(numbers):
        return curve
    wanted = np.geomspace(numbers[0], numbers[-1], points)
    kept = long_enough[np.unique(np.searchsorted(numbers, wanted).clip(max=len(numbers) - 1))]
    return Curve(curve.numbers[kept], curve.values[kept], curve.domains[kept])
