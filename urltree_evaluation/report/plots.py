"""Which charts a corpus gets, from which of its figures, and what is said under each.

Each function here answers for one chart: None where its corpus has nothing to draw.
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

_LISTED = 60  # domains that get a box each
_PAGES = 3  # of a domain, on average: of fewer a mean or a box says nothing
_PANELS = 3  # extractors of each side, ours and others', whose domains are drawn


class Plot(NamedTuple):
    """A figure to be drawn, its heading and what it shows."""

    heading: str
    caption: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class ChartData:
    """Where a corpus' charts get their figures from.

    Attributes:
        ratios: CPU of each extractor, a bare parse being 1; empty where it was not measured.
    """

    workspace: Workspace
    ranked: Ranking
    ratios: Mapping[str, float]

    @property
    def groups(self) -> dict[str, Group]:
        """Of each extractor, best first."""
        return group_by_name(self.ranked.rows)

    def table(self, of: str = "f1") -> ScoreTable:
        """Of words: "f1", "precision" or "recall" of each page and extractor."""
        return load_table(self.workspace, self.ranked.corpus.name, of=of)


def has_domains(table: ScoreTable) -> bool:
    """Has domains that can be listed, and enough pages of them to say something of each."""
    count = len(table.domain_names)
    return 1 < count <= _LISTED and len(table) >= _PAGES * count


def plot_ranking(measured: ChartData) -> Plot | None:
    """All extractors with their intervals."""
    kinds = measured.groups
    dots = [
        ranking.Dot(row.name, kinds[row.name], *row.headline)
        for row in measured.ranked.rows
        if not np.isnan(row.headline.value)
    ]
    if not dots:
        return None
    caption = (
        f"Of {measured.ranked.documents:,} documents. Whiskers hold 95 % of "
        "1,000 resamples of domains, then pages; two extractors whose whiskers overlap may still "
        "differ surely, for differences are paired (see the table)."
    )
    return Plot("Ranking", caption, ranking.ranking_chart(dots, measured.ranked.measure))


def plot_histograms(measured: ChartData) -> Plot | None:
    """Histograms of precision, recall and F1."""
    tables = [measured.table(of) for of in ("precision", "recall", "f1")]
    if not len(tables[0]):
        return None
    values = {
        name: np.stack([table.values[:, table.column(name)] for table in tables], axis=1)
        for name in measured.groups
    }
    caption = (
        "How documents spread, in 20 bins. Good extractors differ less in their mean than in "
        "their left tail: documents on which they fail."
    )
    figure = histograms.histograms(values, measured.groups)
    return Plot("Histograms of precision, recall and F1", caption, figure)


def plot_domains(measured: ChartData) -> Plot | None:
    """Box plots of F1: by domain, or by extractor where domains are many."""
    table = measured.table()
    if not len(table):
        return None
    whiskers = "Boxes are quartiles, whiskers reach to 1.5 times their distance, dots lie beyond."
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
    """Quality against cost."""
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
        "Quality against cost: up and to the left is better. Diamonds are ours, squares other "
        "stream extractors, circles read single pages."
    )
    return Plot("Quality against cost", caption, cost.cost_chart(spots, measured.ranked.measure))


def plot_learning(measured: ChartData) -> Plot | None:
    """Learning curves of a stream: mean over its domains."""
    by_name = _curves(measured, {"ours": 4, "stream": 3, "single page": 2})
    means = {name: _thinned(mean_curve(by_domain)) for name, by_domain in by_name.items()}
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
        "F1 of words, mean of all documents of a domain up to this one, then over domains; drawn "
        "as far as half of the domains reach, and uneven where one ends. Extractors that read "
        "single pages do not learn: they show how hard the documents are."
    )
    return Plot("Learning curves", caption, learning.learning_chart(lines, "F1 of words so far"))


def plot_learning_by_domain(measured: ChartData) -> Plot | None:
    """Learning curves of a stream, a panel for each domain."""
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
            for curve in [_thinned(by_domain[domain])]
        ]
        for domain in domains
    }
    caption = (
        "The same in each domain, for the best of each group: where learning pays, and where not."
    )
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
    """Moving averages by extractor and domain; none where documents are in no order."""
    workspace, corpus = measured.workspace, measured.ranked.corpus
    if corpus.kind != "stream":
        return {}
    whole, sampled = whole_stream(workspace, corpus.name), measured.table()
    return {
        name: curves(whole if name in whole.names else sampled, name)
        for name in best_of_each(measured.ranked.rows, wanted)
    }


def _thinned(curve: Curve, points: int = 40) -> Curve:
    """Points that are about evenly spaced on a logarithmic axis, while half of the domains last."""
    long_enough = np.flatnonzero(curve.domains * 2 >= curve.domains.max(initial=0))
    numbers = curve.numbers[long_enough]
    if not len(numbers):
        return curve
    wanted = np.geomspace(numbers[0], numbers[-1], points)
    kept = long_enough[np.unique(np.searchsorted(numbers, wanted).clip(max=len(numbers) - 1))]
    return Curve(curve.numbers[kept], curve.values[kept], curve.domains[kept])
