"""Section 9: leave out each kind of evidence alone, on real and on generated streams.

A kind of evidence is worth its cost if F1 falls by at least `EARNS` without it, either on the real
streams or on the streams of some generator. The report also shows where F1 rises without a kind of
evidence, because there the evidence is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.figure import Measurement
from bench.hard_streams.generators import SECTIONS, generator_names
from bench.hard_streams.measuring import GeneratorScore, StreamTask, measure_generators
from bench.quality.level import LEARNED, among
from bench.quality.markdown import (
    DIFFERENCE,
    QualityResult,
    at_least,
    format_interval,
    format_signed,
    markdown_table,
)
from bench.quality.passes import VariantScores
from bench.quality.passes import score_table as table_of
from bench.quality.variant import Variant
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.statistics.bootstrap import differences_to
from urltree_evaluation.statistics.table import ScoreTable

EARNS = 0.001
STREAM_PAGES = (
    200  # pages of each site; with all pages, each kind of evidence would take one minute more
)
PAGES, SCORED = 80, 16  # number of pages of each generated stream, and of those that are scored
SITES = ("blog.rust-lang.org", "freepressokc.com", "izquierdahispanica.org")
_PARTS = 4


class Generated(NamedTuple):
    """The mean F1 of one heuristic on the streams of one generator, with the title prepended."""

    generator: str
    heuristic: str
    f1: float


def on_generated(
    files: Sequence[Path], heuristics: Sequence[str], processes: int
) -> list[Generated]:
    """Return the mean F1 of each heuristic on each generator except `sections`."""
    generators = [name for name in generator_names() if name != SECTIONS]
    # The generators of one task share one pass over the real stream.
    some = [tuple(generators[at::_PARTS]) for at in range(_PARTS)]
    work = [
        StreamTask((file,), PAGES, SCORED, chosen, tuple(heuristics), {"revisits": "replace"})
        for file in files
        for chosen in some
    ]
    grouped: dict[tuple[str, str], list[GeneratorScore]] = defaultdict(list)
    for done in map_unordered(measure_generators, work, processes):
        for each in done:
            grouped[each.generator, each.heuristic].append(each)
    return [
        Generated(generator, heuristic, fmean(each.titled for each in found))
        for (generator, heuristic), found in sorted(grouped.items())
    ]


def ablation(
    whole: Variant, pieces: Sequence[str], scores: VariantScores, generated: Iterable[Generated]
) -> QualityResult:
    """Make section 9, with a line for each kind of evidence: F1 without it minus F1 with all."""
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
        found.append(Measurement(f"{piece} earns", cost, DIFFERENCE, bar=at_least(EARNS)))
    header = ["without", "streams", "95 %", f"after {LEARNED}", "page 1", "page 2-5"]
    header += ["site that loses most", "site that gains most"]
    header += ["generators", "generator that loses most", "generator that gains most"]
    method = (
        f"F1 without one kind of evidence minus F1 with all: the first {STREAM_PAGES} pages of a"
        f" site, scored as in section 1; generators on {PAGES} pages of {len(SITES)} sites, with"
        " title. The value after “earns” is the F1 that is lost without this evidence: on the"
        f" streams or, if that is more, on the generator that loses most; the bar is {EARNS:g}."
    )
    return QualityResult(
        "Section 9: each evidence left out", method, found, [markdown_table(header, rows)]
    )


def _line(both: ScoreTable, changes: Mapping[str, float]) -> tuple[list[str], float]:
    """Return the cells for a kind of evidence, and the largest F1 that is lost without it."""
    change = differences_to(both, "whole")["without"]
    sites = dict(zip(both.domain_names, (both.domain_means @ [-1.0, 1.0]).tolist(), strict=True))
    parts = [_change(among(both, *span)) for span in ((LEARNED + 1, None), (1, 1), (2, 5))]
    cells = [
        format_signed(change.value),
        format_interval(change, is_difference=True),
        *parts,
        *_ends(sites),
    ]
    cells += [format_signed(fmean(changes.values())) if changes else "", *_ends(changes)]
    return cells, max(-change.value, -min(changes.values(), default=0.0))


def _change(both: ScoreTable) -> str:
    if not len(both):
        return ""
    macro = both.macro()
    return format_signed(macro["without"] - macro["whole"])


def _changes(whole: Mapping[str, float], without: Mapping[str, float]) -> dict[str, float]:
    return {name: without[name] - f1 for name, f1 in whole.items()}


def _ends(changes: Mapping[str, float]) -> list[str]:
    """Return the largest loss and the largest gain, each with the name of its site or generator."""
    if not changes:
        return ["", ""]
    low, high = (choose(changes, key=lambda name: changes[name]) for choose in (min, max))
    return [
        f"{format_signed(changes[low])} {low}" if changes[low] < 0 else "",
        f"{format_signed(changes[high])} {high}" if changes[high] > 0 else "",
    ]
