"""The report's tables as files: report.md to be read, CORPUS-TABLE.csv to be computed with.

Files of corpora whose gold a tool made lie in a folder of their own: who reads all CSV files of one
folder into one table pools no such figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from urltree_evaluation.report.inert import inert
from urltree_evaluation.report.section import Section
from urltree_evaluation.statistics.grid import Grid, escaped
from urltree_evaluation.workspace import appearing

BY_TOOLS = "gold-made-by-tools"
_ONLY_CSV = ("curves", "milestones-domains", "pairs")  # too long to be read


def write_tables(folder: Path, sections: Sequence[Section], costs: Grid | None) -> None:
    """Write all tables of all corpora; corpora whose gold a tool made come last.

    Those of an earlier report go first: one that is not made again would be taken for new.
    """
    for old in folder.rglob("*.csv"):
        old.unlink()
    apart = sorted(sections, key=lambda each: each.corpus.tool is not None)
    texts = ["# Extractors of main content, measured\n"]
    for each in apart:
        texts.append(f"## {escaped(each.corpus.name)}\n")
        of_corpus, tool = folder, each.corpus.tool
        if tool is not None:
            of_corpus = folder / BY_TOOLS
            texts.append(f"Gold made by {escaped(tool)}: likeness to it, not quality.\n")
        for name, grid in each.tables.items():
            _write(of_corpus / f"{each.corpus.name}-{name}.csv", grid.csv())
            if name not in _ONLY_CSV:
                texts.append(_markdown(grid))
    if costs is not None:
        _write(folder / "cost.csv", costs.csv())
        texts += ["## Cost\n", _markdown(costs)]
    _write(folder / "report.md", "\n".join(texts))


def _markdown(grid: Grid) -> str:
    return f"### {escaped(grid.title)}\n\n{grid.markdown()}"


def _write(file: Path, text: str) -> None:
    with appearing(file) as out:
        out.write(inert(text).encode())
