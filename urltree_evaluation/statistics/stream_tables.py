"""The tables of streams: whole streams, learning curves and duplicates."""

from __future__ import annotations

from collections import Counter

import numpy as np

from urltree_evaluation.statistics.bootstrap import Estimate, macro_estimates, micro_estimates
from urltree_evaluation.statistics.curves import (
    MILESTONES,
    Milestone,
    average_after,
    curves,
    mean_curve,
    milestones,
)
from urltree_evaluation.statistics.grid import Grid, GridCell
from urltree_evaluation.statistics.score_columns import read_columns, scored_extractors
from urltree_evaluation.statistics.table import ScoreTable, load_table, whole_stream
from urltree_evaluation.workspace import Workspace

CURVE_POINTS = (
    60  # highest number of rows of the table of curves, evenly spaced on a logarithmic axis
)


def stream_tables(workspace: Workspace, corpus: str) -> dict[str, Grid]:
    """Return all tables of a stream by name."""
    streams, sampled = whole_stream(workspace, corpus), load_table(workspace, corpus)
    titled = whole_stream(workspace, corpus, "words+title")
    by_streams, by_all = milestones(streams), milestones(sampled)
    return {
        "whole-stream": whole_stream_table(streams, titled),
        "milestones": milestones_table(streams, by_streams, "all pages"),
        "milestones-sampled": milestones_table(sampled, by_all, "sampled pages"),
        "milestones-latest": latest_table(streams, by_streams),
        "milestones-domains": milestones_by_domain_table(streams),
        "curves": curves_table(streams),
        "duplicates": duplicates_table(count_duplicates(workspace, corpus)),
    }


def whole_stream_table(table: ScoreTable, titled: ScoreTable) -> Grid:
    """Return a table of the results of stream extractors on all scored pages."""
    header = ("extractor", "F1", "F1, title prepended", "F1, micro", "documents", "domains")
    macro, micro, with_title = (
        macro_estimates(table),
        micro_estimates(table),
        macro_estimates(titled),
    )
    rows = [
        (name, macro[name], with_title[name], micro[name], len(table), len(table.domain_names))
        for name in table.ranked()
    ]
    title = "stream extractors on all scored pages: F1 of words, macro over domains"
    return Grid(title, header, rows, frozenset(header[1:4]))


def milestones_table(table: ScoreTable, found: list[Milestone], pages: str) -> Grid:
    """Return a table of the mean F1 of all documents up to each milestone, as in the paper."""
    title = f"moving average of F1 after n documents of a domain ({pages})"
    values = [(each.number, each.domains, each.average) for each in found]
    return _milestones(title, table, values)


def latest_table(table: ScoreTable, found: list[Milestone]) -> Grid:
    """Return a table of the mean F1 of the second half of the documents up to each milestone."""
    title = "mean F1 of documents n/2 to n of a domain (all pages)"
    values = [(each.number, each.latest_domains, each.latest) for each in found]
    return _milestones(title, table, values)


def milestones_by_domain_table(table: ScoreTable) -> Grid:
    """Return a table of the moving average of F1 in each domain, at each milestone."""
    by_domain = {name: curves(table, name) for name in table.ranked()}
    rows: list[list[GridCell]] = [
        [domain, name, *(average_after(found[domain], number) for number in MILESTONES)]
        for domain in table.domain_names
        for name, found in by_domain.items()
    ]
    header = ("domain", "extractor", *map(str, MILESTONES))
    return Grid("moving average of F1 after n documents, by domain", header, rows)


def curves_table(table: ScoreTable) -> Grid:
    """Return a table of the domains' mean moving average, at points on a logarithmic axis."""
    names = table.ranked()
    means = [mean_curve(curves(table, name)) for name in names]
    if not means or not len(means[0].numbers):
        return Grid("moving average of F1", ("documents",), [])
    numbers, domains = means[0].numbers, means[0].domains
    wanted = np.unique(np.geomspace(numbers[0], numbers[-1], CURVE_POINTS).round())
    rows: list[list[GridCell]] = [
        [int(numbers[at]), int(domains[at]), *(float(mean.values[at]) for mean in means)]
        for at in np.flatnonzero(np.isin(numbers, wanted))
    ]
    title = "moving average of F1 by document number, mean over domains with enough documents"
    return Grid(title, ("documents", "domains", *names), rows)


def duplicates_table(found: dict[str, dict[str, int]]) -> Grid:
    """Return a table of the number of duplicates that each step of normalisation detected."""
    steps = list(dict.fromkeys(step for counts in found.values() for step in counts))
    rows: list[list[GridCell]] = [
        [name, *(counts.get(step, 0) for step in steps), sum(counts.values())]
        for name, counts in found.items()
    ]
    header = ("extractor", *(step or "not said" for step in steps), "all")
    return Grid("duplicates by step of normalisation", header, rows)


def _milestones(
    title: str, table: ScoreTable, values: list[tuple[int, int, dict[str, Estimate]]]
) -> Grid:
    """Return a table with a column for each milestone; its heading has the number of domains."""
    header = ("extractor", *(f"{number} ({domains} domains)" for number, domains, _ in values))
    rows: list[list[GridCell]] = [
        [name, *(figure[name] for _, _, figure in values)] for name in table.ranked()
    ]
    return Grid(title, header, rows if values else [], frozenset(header[1:]))


def count_duplicates(workspace: Workspace, corpus: str) -> dict[str, dict[str, int]]:
    """Count the duplicates by extractor and by detecting step, the most frequent step first.

    Extractors without duplicates are left out.
    """
    found = {}
    for name in scored_extractors(workspace, corpus):
        if read_columns(workspace, corpus, name).is_duplicate.any():
            steps = Counter(
                prediction.message
                for part in workspace.corpora[corpus].parts
                for prediction in workspace.predictions(corpus, name, part)
                if prediction.failure == "duplicate"
            )
            found[name] = dict(steps.most_common())
    return found
