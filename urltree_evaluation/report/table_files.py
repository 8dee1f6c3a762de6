"""Write the tables of the report as files: report.md for readers, CORPUS-TABLE.csv for programs.

If a tool produced the gold of a corpus, the files of this corpus are in a separate folder. A
program that combines all CSV files of a folder therefore does not mix both kinds of corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from urltree_evaluation.costs.cost import Cost
from urltree_evaluation.report.sanitizing import sanitize
from urltree_evaluation.report.section import CorpusSection
from urltree_evaluation.statistics.grid import Grid, GridCell, escape_markdown
from urltree_evaluation.workspace import appearing

BY_TOOLS = "gold-made-by-tools"
_ONLY_CSV = ("curves", "milestones-domains", "pairs")  # tables that are too long for report.md


def write_tables(folder: Path, sections: Sequence[CorpusSection], costs: Grid | None) -> None:
    """Write all tables of all corpora; corpora whose gold a tool produced come last.

    The CSV files of an earlier report are deleted first, so that no outdated table remains.
    """
    for old in folder.rglob("*.csv"):
        old.unlink()
    apart = sorted(sections, key=lambda each: each.corpus.tool is not None)
    texts = ["# Extractors of main content, measured\n"]
    for each in apart:
        texts.append(f"## {escape_markdown(each.corpus.name)}\n")
        of_corpus, tool = folder, each.corpus.tool
        if tool is not None:
            of_corpus = folder / BY_TOOLS
            texts.append(
                f"Gold made by {escape_markdown(tool)}: the values measure similarity to this tool."
                "\n"
            )
        for name, grid in each.tables.items():
            _write(of_corpus / f"{each.corpus.name}-{name}.csv", grid.csv())
            if name not in _ONLY_CSV:
                texts.append(_markdown(grid))
    if costs is not None:
        _write(folder / "cost.csv", costs.csv())
        texts += ["## Cost\n", _markdown(costs)]
    _write(folder / "report.md", "\n".join(texts))


def _markdown(grid: Grid) -> str:
    return f"### {escape_markdown(grid.title)}\n\n{grid.markdown()}"


def _write(file: Path, text: str) -> None:
    with appearing(file) as out:
        out.write(sanitize(text).encode())


_MEBIBYTE = 2**20


def costs_table(cost: Cost) -> Grid:
    """Return a table of the CPU time and memory of all extractors, the fastest first."""
    header = (
        "extractor", "CPU, a bare parse being 1", "first quartile", "median", "third quartile",
        "documents", "left out", "peak memory, MiB", "worst document", "its ratio",
    )  # fmt: skip
    rows: list[list[GridCell]] = []
    for name, each in sorted(cost.extractors.items(), key=lambda item: item[1].ratio):
        peak = None if each.peak_memory is None else round(each.peak_memory / _MEBIBYTE)
        worst = each.worst[0] if each.worst else None
        rows.append([
            name, each.ratio, *each.quartiles, each.documents, len(each.left_out), peak,
            f"{worst.corpus}: {worst.id}" if worst else None, worst.ratio if worst else None,
        ])  # fmt: skip
    title = f"cost, on {cost.documents:,} documents, {cost.bytes / _MEBIBYTE:,.0f} MiB of HTML"
    return Grid(title, header, rows)
