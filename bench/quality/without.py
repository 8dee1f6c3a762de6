"""Rows 3 and 4: what a heuristic is worth without the records' titles, and without names."""

from __future__ import annotations

from collections.abc import Sequence

from bench.figure import Figure
from bench.quality.level import among, macro
from bench.quality.markdown import DIFFERENCE, Answer, at_least, f1, interval, signed, table
from bench.quality.passes import PageF1
from bench.quality.passes import table as table_of
from urltree_evaluation.statistics.bootstrap import differences_to

_WITH, _WITHOUT = "with", "without"
_HELPED = 20  # pages of a site that a single-page extractor may help with (row 4)


def without_titles(given: Sequence[PageF1], hidden: Sequence[PageF1]) -> Answer:
    """Row 3: what is lost where no title is given; the page's own <title> remains."""
    both = table_of({_WITH: given, _WITHOUT: hidden})
    lost = differences_to(both, _WITH)[_WITHOUT]
    found = [
        Figure("macro F1 without titles", both.macro()[_WITHOUT], ""),
        Figure(
            "difference",
            lost.value,
            DIFFERENCE,
            note=interval(lost, is_difference=True),
            bar=at_least(-0.003),
        ),
    ]
    return Answer("Row 3: without titles", _METHOD, found, [_changes(given, hidden)])


def without_names(given: Sequence[PageF1], unnamed: Sequence[PageF1]) -> Answer:
    """Row 4: without the evidence of elements, classes and ids."""
    scores = table_of({"": unnamed})
    alone, later = macro(scores), among(scores, _HELPED + 1)
    found = [Figure("macro F1", alone.value, "", note=interval(alone), bar=at_least(0.93))]
    if len(later):
        note = "≥ .97 over all pages is asked with a single-page extractor on those before"
        found.append(Figure(f"after {_HELPED} documents", macro(later).value, "", note=note))
    return Answer("Row 4: without names", _METHOD, found, [_changes(given, unnamed)])


def _changes(given: Sequence[PageF1], other: Sequence[PageF1]) -> str:
    """The sites by what they lose, most first."""
    both = table_of({_WITH: given, _WITHOUT: other})
    rows = sorted(zip(both.domain_names, both.domain_means.tolist(), strict=True), key=_gain)
    cells = [[site, *map(f1, means), signed(means[1] - means[0])] for site, means in rows]
    return table(["site", _WITH, _WITHOUT, "difference"], cells)


def _gain(row: tuple[str, list[float]]) -> float:
    _, (with_it, without_it) = row
    return without_it - with_it


_METHOD = "The same pages of the same streams, in another pass."
