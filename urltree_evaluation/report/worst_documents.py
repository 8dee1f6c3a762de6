"""Error analysis: an extractor's worst documents, with gold, result and page side by side.

    scores ──▶ the lowest F1s ──▶ their predictions, their pages ──▶ marked differences

Means show which extractor is better. Single documents show why it is better (thesis, chapter 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from urltree.page import PageError
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.html_text import html_text
from urltree_evaluation.metrics.segments import collapse_spaces
from urltree_evaluation.prediction import Prediction
from urltree_evaluation.report.differences import MARKS, NOTE, excerpt, mark_differences
from urltree_evaluation.score import HEADLINE
from urltree_evaluation.statistics.score_columns import Columns, read_columns
from urltree_evaluation.workspace import Workspace

WORST = 5
BOUNDARY_CASES = 2  # highest number of boundary cases to show; an empty result explains little


@dataclass(frozen=True, slots=True)
class WorstDocument:
    """A document with a low score.

    Attributes:
        page: the page.
        figures: the scores of the page as text.
        case: the kind of boundary case; "" for a success.
        message: message of the extractor's failure; "" if there was no failure.
        gold: gold as escaped HTML, with missing words marked.
        result: result as escaped HTML, with extra words marked.
        page_text: all text of the page as escaped HTML.
    """

    page: CorpusPage
    figures: str
    case: str
    message: str
    gold: Markup
    result: Markup
    page_text: Markup


def worst_documents(
    workspace: Workspace, corpus: str, extractors: Sequence[str], count: int = WORST
) -> dict[str, list[WorstDocument]]:
    """Return the worst sampled documents of each extractor.

    Documents are ordered by F1 of words or, if there is no full gold, by their segments.
    """
    columns = {name: read_columns(workspace, corpus, name) for name in extractors}
    rows = {name: _lowest_rows(each, count) for name, each in columns.items()}
    wanted = {name: [columns[name].ids[row] for row in rows[name]] for name in extractors}
    pages = _pages(workspace, corpus, {page for ids in wanted.values() for page in ids})
    texts = {identifier: _text(page) for identifier, page in pages.items()}
    found = {}
    for name in extractors:
        said = _predictions(workspace, corpus, name, set(wanted[name]))
        found[name] = [
            _document(pages[page], texts[page], said[page], columns[name], row)
            for page, row in zip(wanted[name], rows[name], strict=True)
            if page in pages and page in said
        ]
    return found


def _text(page: CorpusPage) -> Markup:
    """Return all text of a page, or the reason why our parser rejects the page."""
    try:
        return excerpt(html_text(page.html))
    except PageError as error:
        return NOTE.format(error.message)


def _lowest_rows(columns: Columns, count: int) -> list[int]:
    """Return the rows with the lowest quality below 1; rows of equal quality are ordered by id.

    Boundary cases come first; at most `BOUNDARY_CASES` of them are returned.
    """
    quality = _quality(columns)
    candidates = [
        int(row)
        for row in np.flatnonzero(columns.is_sampled & ~columns.is_duplicate)
        if quality[row] < 1  # false for NaN
    ]
    candidates.sort(key=lambda row: (quality[row], columns.ids[row]))
    cases = [row for row in candidates if columns.boundaries[row] is not None]
    cases = cases[: min(BOUNDARY_CASES, count)]
    others = [row for row in candidates if columns.boundaries[row] is None]
    return cases + others[: count - len(cases)]


def _quality(columns: Columns) -> NDArray[np.float64]:
    """Return the F1 of words; without full gold, the share of correct segments; else NaN."""
    f1 = columns.metrics[HEADLINE][:, 2]
    found, missed, kept, dropped = columns.segments.T
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(f1), (found + dropped) / (found + missed + kept + dropped), f1)


def _pages(workspace: Workspace, corpus: str, wanted: set[str]) -> dict[str, CorpusPage]:
    parts = workspace.corpora[corpus].parts
    return {
        page.id: page
        for part in parts
        for page in workspace.pages(corpus, part)
        if page.id in wanted
    }


def _predictions(
    workspace: Workspace, corpus: str, extractor: str, wanted: set[str]
) -> Mapping[str, Prediction]:
    parts = workspace.corpora[corpus].parts
    return {
        said.id: said
        for part in parts
        for said in workspace.predictions(corpus, extractor, part)
        if said.id in wanted
    }


def _document(
    page: CorpusPage, text: Markup, said: Prediction, columns: Columns, row: int
) -> WorstDocument:
    if page.gold is not None:
        precision, recall, f1 = columns.metrics[HEADLINE][row]
        figures = f"F1 {f1:.3f}, precision {precision:.3f}, recall {recall:.3f}"
        gold, result = mark_differences(page.gold, said.text)
    else:
        found, missed, kept, dropped = (int(count) for count in columns.segments[row])
        figures = (
            f"segments: {missed} of {found + missed} missing, {kept} of {kept + dropped} extra"
        )
        gold, result = _segments(page, said.text), excerpt(said.text)
    return WorstDocument(
        page, figures, columns.boundaries[row] or "", said.message, gold, result, text
    )


def _segments(page: CorpusPage, text: str) -> Markup:
    """Return the segments of a page; missing and wrongly included segments are marked."""
    spaced = collapse_spaces(text)
    lines = [Markup("must be there:")]
    lines += [
        _line(each, "missing", collapse_spaces(each) not in spaced) for each in page.gold_with
    ]
    lines += [Markup("must not be there:")]
    lines += [_line(each, "extra", collapse_spaces(each) in spaced) for each in page.gold_without]
    return Markup("\n").join(lines)


def _line(segment: str, mark: str, is_wrong: bool) -> Markup:
    text = excerpt(segment)
    return Markup("* ") + (MARKS[mark].format(text) if is_wrong else text)
