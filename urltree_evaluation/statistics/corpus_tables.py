"""The tables of a corpus, which the report writes as Markdown and CSV.

The tables of streams may use other pages than the ranking. All other tables use its pages. A
table without rows is omitted.
"""

from __future__ import annotations

from dataclasses import replace

from urltree_evaluation.statistics import stream_tables
from urltree_evaluation.statistics.bootstrap import pairwise_differences
from urltree_evaluation.statistics.grid import Grid, GridCell
from urltree_evaluation.statistics.ranking import OTHERS, RankedExtractor, Ranking
from urltree_evaluation.statistics.shared_pages import BOUNDARY_CASES
from urltree_evaluation.statistics.table import ScoreTable, load_table
from urltree_evaluation.statistics.winners import domain_figures, sign_test, winners
from urltree_evaluation.workspace import Workspace


def corpus_tables(workspace: Workspace, ranked: Ranking) -> dict[str, Grid]:
    """Return all tables of a ranking's corpus by name, such as "ranking"."""
    corpus = ranked.corpus.name
    table = load_table(workspace, corpus)
    grids = {
        "ranking": ranking_table(ranked),
        "metrics": metrics_table(ranked),
        "segments": segments_table(ranked),
        "boundaries": boundaries_table(ranked),
        "pairs": pairs_table(table),
        "domains": domains_table(table),
        "extractors": extractors_table(ranked),
    }
    if ranked.corpus.kind == "stream":
        grids |= stream_tables.stream_tables(workspace, corpus)
    return {name: _add_tool(grid, ranked) for name, grid in grids.items() if grid.rows}


def ranking_table(ranked: Ranking) -> Grid:
    """Return a table of the extractors, with F1 of words and the uncertainty of each value."""
    header = (
        "extractor", "F1", "F1, title prepended", "P", "R", "F1, micro", "F1, successes",
        "to the best", "domains won : equal : lost", "p", "best on domains", "boundary cases at 0",
    )  # fmt: skip
    rows: list[list[GridCell]] = [[row.name, *_text_cells(row)] for row in ranked.rows if row.text]
    best = frozenset(header[1:7])
    return Grid(f"{_corpus_title(ranked)}: F1 of words, macro over domains", header, rows, best)


def metrics_table(ranked: Ranking) -> Grid:
    """Return a table of F1 by every metric, as macro and micro means."""
    header = ("extractor", "words", *OTHERS, "words, micro", *(f"{o}, micro" for o in OTHERS))
    rows: list[list[GridCell]] = [
        [
            row.name,
            row.text.f1,
            *row.text.others.values(),
            row.text.micro,
            *row.text.others_micro.values(),
        ]
        for row in ranked.rows
        if row.text
    ]
    return Grid(f"{_corpus_title(ranked)}: F1 by metric", header, rows, frozenset(header[1:]))


def segments_table(ranked: Ranking) -> Grid:
    """Return a table of precision, recall, F1 and accuracy of segments, summed over pages."""
    header = ("extractor", "P", "R", "F1", "accuracy", "F1 to the best")
    found = [(row.name, row.segments) for row in ranked.rows if row.segments]
    found.sort(key=lambda each: (-each[1].f1.value, each[0]))
    rows: list[list[GridCell]] = [[name, *figures] for name, figures in found]
    return Grid(f"{_corpus_title(ranked)}: segments, micro", header, rows, frozenset(header[1:5]))


def boundaries_table(ranked: Ranking) -> Grid:
    """Return a table of the number of boundary cases of each kind."""
    header = ("extractor", *BOUNDARY_CASES, "successes", "documents")
    rows: list[list[GridCell]] = [
        [
            row.name,
            *(row.boundaries[kind] for kind in BOUNDARY_CASES),
            row.successes,
            ranked.documents,
        ]
        for row in ranked.rows
    ]
    return Grid(f"{_corpus_title(ranked)}: boundary cases", header, rows)


def extractors_table(ranked: Ranking) -> Grid:
    """Return a table of the options and the version of each extractor."""
    header = ("extractor", "options", "version", "learns from earlier pages")
    rows = [(r.name, r.options, r.version, "yes" if r.is_stream else "no") for r in ranked.rows]
    return Grid(f"{_corpus_title(ranked)}: extractors", header, rows)


def pairs_table(table: ScoreTable) -> Grid:
    """Return a table of the paired difference and the sign test for every two extractors."""
    header = ("better", "worse", "difference of F1", "won", "equal", "lost", "p")
    found = pairwise_differences(table) if len(table) else {}
    rows: list[list[GridCell]] = [
        [better, worse, gap, *sign_test(table, better, worse)]
        for (better, worse), gap in found.items()
    ]
    return Grid("differences of macro F1 of words", header, rows)


def domains_table(table: ScoreTable) -> Grid:
    """Return a table of each extractor's mean F1 on each domain, and of the best one's margin."""
    names = table.ranked()
    columns = [table.column(name) for name in names]
    rows: list[list[GridCell]] = []
    for won, means in zip(winners(table), table.domain_means[:, columns].tolist(), strict=True):
        ahead: GridCell = won.margin
        values: list[GridCell] = means
        if found := domain_figures(table, won.domain):
            ahead, values = found[0], [found[1][name] for name in names]
        rows.append([won.domain, won.pages, ", ".join(won.names), ahead, *values])
    header = ("domain", "pages", "best", "ahead by", *names)
    return Grid("F1 of words by domain", header, rows, frozenset(names), is_best_in_row=True)


def _corpus_title(ranked: Ranking) -> str:
    """Return the name of the corpus with the numbers of documents and domains."""
    return f"{ranked.corpus.name} ({ranked.documents:,} documents, {ranked.domains:,} domains)"


def _add_tool(grid: Grid, ranked: Ranking) -> Grid:
    """Add the tool that produced the gold to the title of a table, which may be read alone."""
    if ranked.tool is None:
        return grid
    return replace(grid, title=f"{grid.title} (gold made by {ranked.tool})")


def _text_cells(row: RankedExtractor) -> tuple[GridCell, ...]:
    assert row.text is not None  # noqa: S101 - checked by the caller
    of = row.text
    sign = of.sign
    return (
        of.f1,
        of.titled,
        of.precision,
        of.recall,
        of.micro,
        of.successes,
        of.behind,
        f"{sign.wins} : {sign.ties} : {sign.losses}" if sign else None,
        sign.p if sign else None,
        of.wins,
        sum(row.boundaries.values()) - row.boundaries["both empty"],
    )
