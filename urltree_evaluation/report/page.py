"""Write the report: one self-contained page, and the same tables as Markdown and CSV.

scores/, cost.json ──▶ rankings ──▶ sections ──▶ report/index.html
                           └──▶ statistics.corpus_tables ──▶ report/*.md, *.csv
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from urltree_evaluation.costs.cost import load_cost
from urltree_evaluation.progress import Progress
from urltree_evaluation.report import formats
from urltree_evaluation.report.differences import COMPARED, SHOWN
from urltree_evaluation.report.groups import Group
from urltree_evaluation.report.html_grid import to_html_grid
from urltree_evaluation.report.sanitizing import sanitize
from urltree_evaluation.report.section import CorpusSection, corpus_section
from urltree_evaluation.report.table_files import costs_table, write_tables
from urltree_evaluation.report.worst_documents import BOUNDARY_CASES, WORST
from urltree_evaluation.statistics.grid import Grid
from urltree_evaluation.statistics.ranking import RankedExtractor, ranking
from urltree_evaluation.workspace import Workspace, WorkspaceError, appearing

_SORT_MARKS: Final[dict[Group, str]] = {"ours": "◆", "stream": "■", "single page": "○"}


def write_report(
    workspace: Workspace, *, documents: int = WORST, progress: Progress | None = None
) -> Path:
    """Write the report of all scored corpora.

    Args:
        workspace: the work folder.
        documents: number of worst documents to show for each extractor and corpus.
        progress: display of the number of documents in the finished corpora.

    Returns:
        The path of the page.

    Raises:
        WorkspaceError: no corpus has scores.
    """
    progress = progress or Progress()
    cost = load_cost(workspace.path)
    ratios = {name: each.ratio for name, each in cost.extractors.items()} if cost else {}
    sizes = {name: sum(each.parts.values()) for name, each in workspace.corpora.items()}
    progress.expect(sum(sizes.values()))
    sections = []
    for name, count in sizes.items():
        progress.now(f"report of {name}")
        ranked = ranking(workspace, name)
        if ranked.rows and ranked.documents:
            sections.append(corpus_section(workspace, ranked, ratios, documents))
        progress.advance(count)
    if not sections:
        raise WorkspaceError(f"{workspace.path} has no scores: run `urltree evaluate score` first")
    costs = costs_table(cost) if cost else None
    write_tables(workspace.path / "report", sections, costs)
    file = workspace.path / "report" / "index.html"
    with appearing(file) as out:
        out.write(render_page(sections, costs).encode())
    return file


def render_page(sections: list[CorpusSection], costs: Grid | None) -> str:
    """Return the page as HTML."""
    return (
        _environment()
        .get_template("index.html.j2")
        .render(
            sections=[each for each in sections if each.corpus.tool is None],
            by_tools=[each for each in sections if each.corpus.tool is not None],
            costs=costs and to_html_grid("cost", costs, _sorts(sections)),
            marks=_SORT_MARKS,
            versions=_versions(sections),
            limits={"shown": SHOWN, "compared": COMPARED, "boundary": BOUNDARY_CASES},
        )
    )


def _sorts(sections: list[CorpusSection]) -> dict[str, Group]:
    return {name: group for each in sections for name, group in each.groups.items()}


def _versions(sections: list[CorpusSection]) -> list[tuple[RankedExtractor, Group]]:
    """Return each extractor once for each combination of options and version."""
    found = {
        (row.name, row.options, row.version): (row, each.groups[row.name])
        for each in sections
        for row in each.ranking.rows
    }
    return [found[key] for key in sorted(found)]


def _environment() -> Environment:
    """Return a template environment that escapes and sanitizes every value."""
    environment = Environment(
        loader=PackageLoader("urltree_evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {"three": formats.three_decimals, "plus_minus": formats.plus_minus}
    return environment


def _finalize(value: object) -> object:
    """Sanitize a value that a template shows; Markup is sanitized where it is created."""
    return sanitize(value) if isinstance(value, str) and not isinstance(value, Markup) else value
