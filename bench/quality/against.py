"""Section 2: compare the heuristic with another extractor.

The record's title is put before the text of the other extractor.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.figure import Measurement
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
from urltree_evaluation.statistics.table import ScoreTable
from urltree_evaluation.statistics.winners import sign_test

PEER = "trafilatura"
_OURS, _THEIRS = "ours", "theirs"


def against(ours: Sequence[PageF1], theirs: Sequence[PageF1]) -> QualityResult:
    """Make section 2: the difference with its interval, sites won and lost, and the worst site."""
    titled = [page._replace(f1=page.titled) for page in theirs]
    both = table_of({_OURS: ours, _THEIRS: titled})
    ahead = differences_to(both, _THEIRS)[_OURS]
    test, macro = sign_test(both, _OURS, _THEIRS), both.macro()
    gaps = _gaps(both)
    worst = min(gaps, key=lambda site: gaps[site])
    note = f"{format_interval(ahead, is_difference=True)}, resampled by sites and pages"
    won = f"{test.wins} sites won, {test.ties} equal, {test.losses} lost; sign test p {test.p:.3g}"
    found = [
        Measurement("ours", macro[_OURS], ""),
        Measurement(f"{PEER}, title prepended", macro[_THEIRS], ""),
        Measurement("ahead by", ahead.value, DIFFERENCE, note=note, bar=at_least(0.01)),
        Measurement("lower end of that interval", ahead.low, DIFFERENCE, bar=at_least(0), note=won),
        Measurement("worst site", gaps[worst], DIFFERENCE, note=worst, bar=at_least(-0.01)),
    ]
    found.insert(
        2, Measurement(f"{PEER} as it is", table_of({_THEIRS: theirs}).macro()[_THEIRS], "")
    )
    means = dict(zip(both.domain_names, both.domain_means.tolist(), strict=True))
    rows = [
        [site, *map(four_digits, means[site]), format_signed(gap)]
        for site, gap in sorted(gaps.items(), key=lambda item: item[1])
    ]
    shown = markdown_table(["site", "ours", f"{PEER}, title prepended", "difference"], rows)
    method = f"The same {len(both):,} pages; {PEER} with comments off and tables on."
    return QualityResult(f"Section 2: against {PEER}", method, found, [shown])


def _gaps(both: ScoreTable) -> dict[str, float]:
    """Return our F1 minus the F1 of the other extractor, on each site."""
    gaps = both.domain_means[:, both.column(_OURS)] - both.domain_means[:, both.column(_THEIRS)]
    return dict(zip(both.domain_names, gaps.tolist(), strict=True))
