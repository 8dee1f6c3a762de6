"""One corpus in the report: its ranking, its charts, its worst documents.

ranking(workspace, corpus) ──▶ Section ──▶ templates/corpus.html.j2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from urltree_evaluation.corpus import Corpus
from urltree_evaluation.report import plots
from urltree_evaluation.report.drawing import svg
from urltree_evaluation.report.heat import Heat, heat
from urltree_evaluation.report.html_grid import HtmlGrid, html_grid
from urltree_evaluation.report.inert import anchor
from urltree_evaluation.report.look import Sort
from urltree_evaluation.report.selection import best_and_ours, sorts
from urltree_evaluation.report.worst_documents import WORST, WorstDocument, worst
from urltree_evaluation.statistics.corpus_tables import corpus_tables
from urltree_evaluation.statistics.grid import Grid
from urltree_evaluation.statistics.ranking import Ranking
from urltree_evaluation.statistics.table import load
from urltree_evaluation.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with what it shows, in words."""

    anchor: str
    heading: str
    caption: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Section:
    """What the page says of one corpus.

    Attributes:
        anchor: of its heading.
        sorts: of each extractor.
        charts: those that can be drawn, by the name of their function in plots.py.
        tables: by name, as written to files too.
        heat: None where there is no full gold, or domains are too many.
        errors: worst documents, by extractor.
    """

    anchor: str
    corpus: Corpus
    ranking: Ranking
    sorts: Mapping[str, Sort]
    charts: Mapping[str, Chart]
    tables: Mapping[str, Grid]
    heat: Heat | None
    errors: Mapping[str, list[WorstDocument]]

    def html(self, table: str) -> HtmlGrid | None:
        """A table as the template shows it; None where the corpus has nothing for it."""
        grid = self.tables.get(table)
        return None if grid is None else html_grid(table, grid, self.sorts)

    @property
    def ours(self) -> list[str]:
        """Our extractors, best first."""
        return [name for name, sort in self.sorts.items() if sort == "ours"]

    @property
    def rivals(self) -> list[str]:
        """Extractors that are not surely worse than the best: their difference's interval has 0."""
        found = []
        for row in self.ranking.rows:
            figures = row.text or row.segments
            if figures is not None and figures.behind is not None and figures.behind.high >= 0:
                found.append(row.name)
        return found

    @property
    def has_streams(self) -> bool:
        """Has extractors that learn from the pages before."""
        return any(sort != "single page" for sort in self.sorts.values())


def section(
    workspace: Workspace, ranked: Ranking, ratios: Mapping[str, float], documents: int = WORST
) -> Section:
    """All of one corpus.

    Args:
        workspace: an evaluation's folder.
        ranked: the corpus' ranking.
        ratios: CPU of each extractor, a bare parse being 1; empty where it was not measured.
        documents: worst ones to show, of each extractor.
    """
    name = ranked.corpus.name
    measured = plots.Measured(workspace, ranked, ratios)
    return Section(
        anchor=anchor(name),
        corpus=ranked.corpus,
        ranking=ranked,
        sorts=sorts(ranked.rows),
        charts=dict(_charts(measured)),
        tables=corpus_tables(workspace, ranked),
        heat=_heat(workspace, ranked),
        errors=worst(workspace, name, best_and_ours(ranked.rows, 3, 4), documents),
    )


def _charts(measured: plots.Measured) -> Iterator[tuple[str, Chart]]:
    name, tool = measured.ranked.corpus.name, measured.ranked.tool
    for draw in plots.ALL:
        plot = draw(measured)
        if plot is not None:
            identifier = anchor(name, draw.__name__)
            caption = f"{plot.caption} Gold made by {tool}." if tool else plot.caption
            drawn = svg(plot.figure, identifier, f"{plot.heading}, {name}: {caption}")
            yield draw.__name__, Chart(identifier, plot.heading, caption, drawn)


def _heat(workspace: Workspace, ranked: Ranking) -> Heat | None:
    table = load(workspace, ranked.corpus.name)
    if not plots.has_domains(table):
        return None
    return heat(table, best_and_ours(ranked.rows, 10, 4))
