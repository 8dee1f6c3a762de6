"""One corpus in the report: its ranking, its charts and its worst documents.

ranking(workspace, corpus) ──▶ CorpusSection ──▶ templates/corpus.html.j2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from urltree_evaluation.corpus import Corpus
from urltree_evaluation.report import plots
from urltree_evaluation.report.drawing import svg
from urltree_evaluation.report.groups import Group, best_and_ours, group_by_name
from urltree_evaluation.report.heat import HeatTable, heat_table
from urltree_evaluation.report.html_grid import HtmlGrid, to_html_grid
from urltree_evaluation.report.sanitizing import anchor
from urltree_evaluation.report.worst_documents import WORST, WorstDocument, worst_documents
from urltree_evaluation.statistics.corpus_tables import corpus_tables
from urltree_evaluation.statistics.grid import Grid
from urltree_evaluation.statistics.ranking import Ranking
from urltree_evaluation.statistics.table import load_table
from urltree_evaluation.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its heading and caption."""

    anchor: str
    heading: str
    caption: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class CorpusSection:
    """The content of one corpus' section.

    Attributes:
        anchor: id of the section's heading.
        corpus: the corpus.
        ranking: ranking of the extractors on the corpus.
        groups: group of each extractor.
        charts: charts that have data; each name is a function's name in plots.py without "plot_".
        tables: tables by name; these tables are also written to files.
        heat: table of domains; None if there is no full gold, or if the domains cannot be listed.
        errors: worst documents, by extractor.
    """

    anchor: str
    corpus: Corpus
    ranking: Ranking
    groups: Mapping[str, Group]
    charts: Mapping[str, Chart]
    tables: Mapping[str, Grid]
    heat: HeatTable | None
    errors: Mapping[str, list[WorstDocument]]

    def html(self, table: str) -> HtmlGrid | None:
        """Return a table for the template, or None if the corpus has no data for it."""
        grid = self.tables.get(table)
        return None if grid is None else to_html_grid(table, grid, self.groups)

    @property
    def ours(self) -> list[str]:
        """The names of our extractors, best first."""
        return [name for name, group in self.groups.items() if group == "ours"]

    @property
    def rivals(self) -> list[str]:
        """The extractors whose difference to the best has an interval that contains 0.

        They are not significantly worse than the best extractor.
        """
        found = []
        for row in self.ranking.rows:
            figures = row.text or row.segments
            if figures is not None and figures.behind is not None and figures.behind.high >= 0:
                found.append(row.name)
        return found

    @property
    def has_streams(self) -> bool:
        """Whether there are extractors that learn from earlier pages."""
        return any(group != "single page" for group in self.groups.values())


def corpus_section(
    workspace: Workspace, ranked: Ranking, ratios: Mapping[str, float], documents: int = WORST
) -> CorpusSection:
    """Return the section of one corpus.

    Args:
        workspace: the work folder.
        ranked: the ranking of the corpus.
        ratios: CPU time of each extractor as a multiple of a bare parse; empty if costs were not
            measured.
        documents: number of worst documents to show for each extractor.
    """
    name = ranked.corpus.name
    measured = plots.ChartData(workspace, ranked, ratios)
    return CorpusSection(
        anchor=anchor(name),
        corpus=ranked.corpus,
        ranking=ranked,
        groups=group_by_name(ranked.rows),
        charts=dict(_charts(measured)),
        tables=corpus_tables(workspace, ranked),
        heat=_heat(workspace, ranked),
        errors=worst_documents(workspace, name, best_and_ours(ranked.rows, 3, 4), documents),
    )


def _charts(measured: plots.ChartData) -> Iterator[tuple[str, Chart]]:
    name, tool = measured.ranked.corpus.name, measured.ranked.tool
    for draw in plots.ALL:
        plot = draw(measured)
        if plot is not None:
            chart = draw.__name__.removeprefix("plot_")
            identifier = anchor(name, chart)
            caption = f"{plot.caption} Gold made by {tool}." if tool else plot.caption
            drawn = svg(plot.figure, identifier, f"{plot.heading}, {name}: {caption}")
            yield chart, Chart(identifier, plot.heading, caption, drawn)


def _heat(workspace: Workspace, ranked: Ranking) -> HeatTable | None:
    table = load_table(workspace, ranked.corpus.name)
    if not plots.has_domains(table):
        return None
    return heat_table(table, best_and_ours(ranked.rows, 10, 4))
