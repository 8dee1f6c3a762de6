"""Ranking: all that a table in a paper says of the extractors on one corpus.

All figures of a row stand on the same pages: those that every extractor was given and none called
a duplicate. Intervals are of the same resamples, so a difference is paired. Corpora are never
pooled, and one whose gold is a tool's output says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, get_args

from urltree_evaluation.corpus import Corpus
from urltree_evaluation.score import Boundary, Metric
from urltree_evaluation.statistics import bootstrap, segments
from urltree_evaluation.statistics.bootstrap import Estimate
from urltree_evaluation.statistics.score_columns import FITTED, scored_extractors
from urltree_evaluation.statistics.segments import SegmentFigures
from urltree_evaluation.statistics.shared_pages import SharedPages, count_boundary_cases
from urltree_evaluation.statistics.table import ScoreTable, load_table
from urltree_evaluation.statistics.winners import SignTest, sign_test, wins
from urltree_evaluation.workspace import Workspace

OTHERS: tuple[Metric, ...] = tuple(
    metric for metric in get_args(Metric) if metric not in {"words", "words+title"}
)


class TextFigures(NamedTuple):
    """What an extractor is worth by full gold; the headline is F1 of words, macro.

    Attributes:
        f1, precision, recall: of words, macro: mean over domains of a domain's mean.
        titled: F1 with the record's title prepended to what does not begin with it, macro.
        micro: F1 of words, mean over pages.
        successes: F1 of words, mean over its own successes alone (thesis): not paired.
        others: F1 of the other metrics, macro.
        others_micro: the same, mean over pages, as other benchmarks give them.
        behind: f1 less that of the best, of the same resamples; None for the best.
        sign: of this against the best, over domains; None for the best.
        wins: domains on which none is better.
    """

    f1: Estimate
    precision: Estimate
    recall: Estimate
    titled: Estimate
    micro: Estimate
    successes: Estimate
    others: dict[Metric, Estimate]
    others_micro: dict[Metric, Estimate]
    behind: Estimate | None
    sign: SignTest | None
    wins: int


@dataclass(frozen=True, slots=True)
class RankedExtractor:
    """One extractor.

    Attributes:
        text: None where the corpus has no full gold.
        segments: None where it has no segments.
        successes: pages that are no boundary case.
        boundaries: pages of each kind of boundary case.
    """

    name: str
    options: str
    version: str
    is_stream: bool
    text: TextFigures | None
    segments: SegmentFigures | None
    successes: int
    boundaries: dict[Boundary, int]

    @property
    def headline(self) -> Estimate:
        """What the ranking goes by: macro F1 of words, or F1 of segments where that is all."""
        if self.text is not None:
            return self.text.f1
        return self.segments.f1 if self.segments is not None else Estimate(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The extractors on one corpus, best first.

    Attributes:
        documents: pages that the figures are of.
        domains: of these pages; a page without a known one is a domain of its own.
        left_out: extractors that were run and not scored on the whole corpus.
        fitted: extractors that were run, and whose constants were chosen on this corpus.
    """

    corpus: Corpus
    rows: tuple[RankedExtractor, ...]
    documents: int
    domains: int
    left_out: tuple[str, ...]
    fitted: tuple[str, ...]

    @property
    def is_full(self) -> bool:
        """Has full gold; else segments alone."""
        return any(row.text is not None for row in self.rows)

    @property
    def measure(self) -> str:
        """What the ranking goes by, in words."""
        made_by = f", gold made by {self.tool}" if self.tool else ""
        return f"F1 of {'words, macro over domains' if self.is_full else 'segments'}{made_by}"

    @property
    def tool(self) -> str | None:
        """Whose output the gold is: shown apart, never beside gold that people made."""
        return self.corpus.tool


def ranking(workspace: Workspace, corpus: str) -> Ranking:
    """Rank all extractors that have scores of the whole corpus.

    A corpus with full gold and segments is ranked, and its pages counted, by full gold.
    """
    table, by_segments = load_table(workspace, corpus), segments.load_segments(workspace, corpus)
    text = _text(workspace, corpus, table) if len(table) else {}
    segmented = segments.segment_estimates(by_segments) if len(by_segments) else {}
    of: SharedPages = table if len(table) else by_segments
    counted = count_boundary_cases(of)
    rows = []
    for name in of.names:
        run = workspace.run(corpus, name)
        row = RankedExtractor(
            name=name,
            options=run.options if run else "",
            version=run.version if run else "",
            is_stream=run is not None and run.is_stream,
            text=text.get(name),
            segments=segmented.get(name),
            successes=len(of) - sum(counted[name].values()),
            boundaries=counted[name],
        )
        rows.append(row)
    run_here, complete = workspace.extractors(corpus), set(scored_extractors(workspace, corpus))
    fitted = tuple(name for name in run_here if FITTED.get(name) == corpus)
    return Ranking(
        corpus=workspace.corpora[corpus],
        rows=tuple(sorted(rows, key=lambda row: (-row.headline.value, row.name))),
        documents=len(of),
        domains=len(of.domain_names),
        left_out=tuple(name for name in run_here if name not in complete and name not in fitted),
        fitted=fitted,
    )


def _text(workspace: Workspace, corpus: str, table: ScoreTable) -> dict[str, TextFigures]:
    """Figures by full gold of each extractor."""
    best, gaps, won = table.ranked()[0], bootstrap.differences_to(table), wins(table)
    f1 = bootstrap.macro_estimates(table)
    precision, recall = (
        bootstrap.macro_estimates(load_table(workspace, corpus, of=of))
        for of in ("precision", "recall")
    )
    titled = bootstrap.macro_estimates(load_table(workspace, corpus, "words+title"))
    micro, successes = bootstrap.micro_estimates(table), bootstrap.success_estimates(table)
    tables = {metric: load_table(workspace, corpus, metric) for metric in OTHERS}
    others = {metric: bootstrap.macro_estimates(each) for metric, each in tables.items()}
    others_micro = {metric: bootstrap.micro_estimates(each) for metric, each in tables.items()}
    return {
        name: TextFigures(
            f1=f1[name],
            precision=precision[name],
            recall=recall[name],
            titled=titled[name],
            micro=micro[name],
            successes=successes[name],
            others={metric: figures[name] for metric, figures in others.items()},
            others_micro={metric: figures[name] for metric, figures in others_micro.items()},
            behind=gaps.get(name),
            sign=None if name == best else sign_test(table, name, best),
            wins=won[name],
        )
        for name in table.names
    }
