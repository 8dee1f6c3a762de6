"""Sections 3 and 4: measure without the records' titles, and without the evidence of names."""

from __future__ import annotations

from collections.abc import Sequence

from bench.figure import Measurement
from bench.quality.level import among, macro_f1
from bench.quality.markdown import (
    DIFFERENCE,
    QualityResult,
    at_least,
    format_interval,
    format_signed,
    four_digits,
    markdown_table,
)
from bench.quality.passes import PageF1
from bench.quality.passes import score_table as table_of
from urltree_evaluation.statistics.bootstrap import differences_to

_WITH, _WITHOUT = "with", "without"
_HELPED = 20  # number of first pages of a site for which a single-page extractor may be used


def without_titles(given: Sequence[PageF1], hidden: Sequence[PageF1]) -> QualityResult:
    """Make section 3: the loss without the records' titles; each page keeps its own <title>."""
    both = table_of({_WITH: given, _WITHOUT: hidden})
    lost = differences_to(both, _WITH)[_WITHOUT]
    found = [
        Measurement("macro F1 without titles", both.macro()[_WITHOUT], ""),
        Measurement(
            "difference",
            lost.value,
            DIFFERENCE,
            note=format_interval(lost, is_difference=True),
            bar=at_least(-0.003),
        ),
    ]
    return QualityResult("Section 3: without titles", _METHOD, found, [_changes(given, hidden)])


def without_names(given: Sequence[PageF1], unnamed: Sequence[PageF1]) -> QualityResult:
    """Make section 4: F1 without the evidence of element names, class names and ids."""
    scores = table_of({"": unnamed})
    alone, later = macro_f1(scores), among(scores, _HELPED + 1)
    found = [
        Measurement("macro F1", alone.value, "", note=format_interval(alone), bar=at_least(0.93))
    ]
    if len(later):
        note = "with a single-page extractor on earlier pages, the bar is ≥ .97 over all pages"
        found.append(
            Measurement(f"after {_HELPED} documents", macro_f1(later).value, "", note=note)
        )
    return QualityResult("Section 4: without names", _METHOD, found, [_changes(given, unnamed)])


def _changes(given: Sequence[PageF1], other: Sequence[PageF1]) -> str:
    """Return a table of the sites; the site with the largest loss comes first."""
    both = table_of({_WITH: given, _WITHOUT: other})
    rows = sorted(zip(both.domain_names, both.domain_means.tolist(), strict=True), key=_gain)
    cells = [
        [site, *map(four_digits, means), format_signed(means[1] - means[0])] for site, means in rows
    ]
    return markdown_table(["site", _WITH, _WITHOUT, "difference"], cells)


def _gain(row: tuple[str, list[float]]) -> float:
    _, (with_it, without_it) = row
    return without_it - with_it


_METHOD = "The same pages of the same streams, in another pass."
