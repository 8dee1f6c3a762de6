"""Row 2: against another extractor on the same pages, the record's title put before its text."""

from __future__ import annotations

from collections.abc import Sequence

from bench.figure import Figure
from bench.quality.markdown import DIFFERENCE, Answer, at_least, f1, interval, signed, table
from bench.quality.passes import PageF1
from bench.quality.passes import table as table_of
from urltree_evaluation.statistics.bootstrap import differences_to
from urltree_evaluation.statistics.table import ScoreTable
from urltree_evaluation.statistics.winners import sign_test

PEER = "trafilatura"
_OURS, _THEIRS = "ours", "theirs"


def against(ours: Sequence[PageF1], theirs: Sequence[PageF1]) -> Answer:
    """The difference with its interval, sites won and lost, and the site furthest behind."""
    titled = [page._replace(f1=page.titled) for page in theirs]
    both = table_of({_OURS: ours, _THEIRS: titled})
    ahead = differences_to(both, _THEIRS)[_OURS]
    test, macro = sign_test(both, _OURS, _THEIRS), both.macro()
    gaps = _gaps(both)
    worst = min(gaps, key=lambda site: gaps[site])
    note = f"{interval(ahead, is_difference=True)}, resampled by sites and pages"
    won = f"{test.wins} sites won, {test.ties} equal, {test.losses} lost; sign test p {test.p:.3g}"
    found = [
        Figure("ours", macro[_OURS], ""),
        Figure(f"{PEER}, title prepended", macro[_THEIRS], ""),
        Figure("ahead by", ahead.value, DIFFERENCE, note=note, bar=at_least(0.01)),
        Figure("lower end of that interval", ahead.low, DIFFERENCE, bar=at_least(0), note=won),
        Figure("worst site", gaps[worst], DIFFERENCE, note=worst, bar=at_least(-0.01)),
    ]
    found.insert(2, Figure(f"{PEER} as it is", table_of({_THEIRS: theirs}).macro()[_THEIRS], ""))
    means = dict(zip(both.domain_names, both.domain_means.tolist(), strict=True))
    rows = [
        [site, *map(f1, means[site]), signed(gap)]
        for site, gap in sorted(gaps.items(), key=lambda item: item[1])
    ]
    shown = table(["site", "ours", f"{PEER}, title prepended", "difference"], rows)
    method = f"The same {len(both):,} pages; {PEER} with comments off and tables on."
    return Answer(f"Row 2: against {PEER}", method, found, [shown])


def _gaps(both: ScoreTable) -> dict[str, float]:
    """By how much ours is above theirs on each site."""
    gaps = both.domain_means[:, both.column(_OURS)] - both.domain_means[:, both.column(_THEIRS)]
    return dict(zip(both.domain_names, gaps.tolist(), strict=True))
