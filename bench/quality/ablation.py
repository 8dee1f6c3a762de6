"""Row 9: each piece of evidence left out alone, on streams and on generated ones.

A piece earns its place where leaving it out costs the streams, or the pages of some generator, at
least `EARNS`. What leaving it out gains somewhere is shown beside: there the evidence is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.figure import Figure
from bench.hard_streams.generators import SECTIONS, names
from bench.hard_streams.measuring import Measured, Work, measure
from bench.quality.level import LEARNED, among
from bench.quality.markdown import DIFFERENCE, Answer, at_least, interval, signed, table
from bench.quality.passes import Scores
from bench.quality.passes import table as table_of
from bench.quality.variant import Variant
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.statistics.bootstrap import differences_to
from urltree_evaluation.statistics.table import ScoreTable

EARNS = 0.001
STREAM_PAGES = 200  # of each site, for a pass over all of them costs a minute a piece
PAGES, SCORED = 80, 16  # of each generated stream
SITES = ("blog.rust-lang.org", "freepressokc.com", "izquierdahispanica.org")
_PARTS = 4


class Generated(NamedTuple):
    """Mean F1 of one generator by one heuristic, with title."""

    generator: str
    heuristic: str
    f1: float


def on_generated(
    files: Sequence[Path], heuristics: Sequence[str], processes: int
) -> list[Generated]:
    """Each generator but `sections` on each stream, by each heuristic: means over streams."""
    generators = [name for name in names() if name != SECTIONS]
    some = [tuple(generators[at::_PARTS]) for at in range(_PARTS)]  # share a pass as they came
    work = [
        Work((file,), PAGES, SCORED, chosen, tuple(heuristics), {"revisits": "replace"})
        for file in files
        for chosen in some
    ]
    grouped: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for done in map_unordered(measure, work, processes):
        for each in done:
            grouped[each.generator, each.heuristic].append(each)
    return [
        Generated(generator, heuristic, fmean(each.titled for each in found))
        for (generator, heuristic), found in sorted(grouped.items())
    ]


def ablation(
    whole: Variant, pieces: Sequence[str], scores: Scores, generated: Iterable[Generated]
) -> Answer:
    """Row 9: a line for each piece; all figures are F1 without it minus F1 with all."""
    by_generator: dict[str, dict[str, float]] = defaultdict(dict)
    for each in generated:
        by_generator[each.heuristic][each.generator] = each.f1
    rows, found = [], []
    for piece in pieces:
        without = whole.without(piece)
        both = table_of({"whole": scores[whole], "without": scores[without]})
        changes = _changes(by_generator[whole.heuristic], by_generator[without.heuristic])
        row, cost = _line(both, changes)
        rows.append([piece, *row])
        found.append(Figure(f"{piece} earns", cost, DIFFERENCE, bar=at_least(EARNS)))
    header = ["without", "streams", "95 %", f"after {LEARNED}", "page 1", "page 2-5"]
    header += ["site that loses most", "site that gains most"]
    header += ["generators", "generator that loses most", "generator that gains most"]
    method = (
        f"F1 without a piece minus F1 with all: the first {STREAM_PAGES} pages of a site scored as"
        f" in row 1; generators on {PAGES} pages of {len(SITES)} sites, with title."
        " What a piece earns is the larger of what leaving it out costs the streams, and the"
        f" generator that loses most; {EARNS:g} is asked."
    )
    return Answer("Row 9: each evidence left out", method, found, [table(header, rows)])


def _line(both: ScoreTable, changes: Mapping[str, float]) -> tuple[list[str], float]:
    """The cells of a piece, and what it earns."""
    change = differences_to(both, "whole")["without"]
    sites = dict(zip(both.domain_names, (both.domain_means @ [-1.0, 1.0]).tolist(), strict=True))
    parts = [_change(among(both, *span)) for span in ((LEARNED + 1, None), (1, 1), (2, 5))]
    cells = [signed(change.value), interval(change, is_difference=True), *parts, *_ends(sites)]
    cells += [signed(fmean(changes.values())) if changes else "", *_ends(changes)]
    return cells, max(-change.value, -min(changes.values(), default=0.0))


def _change(both: ScoreTable) -> str:
    if not len(both):
        return ""
    macro = both.macro()
    return signed(macro["without"] - macro["whole"])


def _changes(whole: Mapping[str, float], without: Mapping[str, float]) -> dict[str, float]:
    return {name: without[name] - f1 for name, f1 in whole.items()}


def _ends(changes: Mapping[str, float]) -> list[str]:
    """Who loses most and who gains most, each with its change; empty where nobody does."""
    if not changes:
        return ["", ""]
    low, high = (choose(changes, key=lambda name: changes[name]) for choose in (min, max))
    return [
        f"{signed(changes[low])} {low}" if changes[low] < 0 else "",
        f"{signed(changes[high])} {high}" if changes[high] > 0 else "",
    ]
