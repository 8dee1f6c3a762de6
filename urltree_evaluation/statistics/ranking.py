"""Rank the extractors on one corpus, with all values that a table in a paper needs.

All values of a ranking are based on the same pages: every extractor was given these pages, and no
extractor reported one as a duplicate. All intervals use the same resamples, so differences are
paired. Results on different corpora are never combined, and gold that a tool produced is marked.
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
    """The quality of an extractor, measured with full gold; the main value is macro F1 of words.

    Attributes:
        f1: macro F1 of words, that is, the mean over domains of each domain's mean.
        precision: precision of words, macro.
        recall: recall of words, macro.
        titled: macro F1 of words after the title is put before each text that does not begin with
            it.
        micro: mean F1 of words over pages.
        successes: mean F1 of words over the pages that are no boundary cases for the extractor
            (thesis). These pages differ between extractors.
        others: macro F1 by each other metric.
        others_micro: mean F1 over pages by each other metric, as other benchmarks publish it.
        behind: `f1` minus the `f1` of the best extractor, with the same resamples; None for the
            best extractor.
        sign: sign test over domains against the best extractor; None for the best extractor.
        wins: number of domains on which no extractor is better.
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
    """The results of one extractor.

    Attributes:
        name: name of the extractor.
        options: options of the extractor, in words.
        version: version of the extractor.
        is_stream: whether the extractor learns from earlier pages.
        text: quality measured with full gold; None if the corpus has no full gold.
        segments: quality measured with segments; None if the corpus has no segments.
        successes: number of pages that are not boundary cases.
        boundaries: number of pages of each kind of boundary case.
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
        """The value of the ranking: macro F1 of words or, without full gold, F1 of segments."""
        if self.text is not None:
            return self.text.f1
        return self.segments.f1 if self.segments is not None else Estimate(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The extractors on one corpus, best first.

    Attributes:
        corpus: the corpus.
        rows: the extractors, best first.
        documents: number of pages on which all values are based.
        domains: number of domains of these pages; a page with an unknown domain counts as its own
            domain.
        left_out: extractors that were run, but have no scores for a part of the corpus.
        fitted: extractors that were run, but are not ranked because their constants were chosen on
            this corpus.
    """

    corpus: Corpus
    rows: tuple[RankedExtractor, ...]
    documents: int
    domains: int
    left_out: tuple[str, ...]
    fitted: tuple[str, ...]

    @property
    def is_full(self) -> bool:
        """Whether the corpus has full gold; otherwise its gold has only segments."""
        return any(row.text is not None for row in self.rows)

    @property
    def measure(self) -> str:
        """The name of the value by which extractors are ranked."""
        made_by = f", gold made by {self.tool}" if self.tool else ""
        return f"F1 of {'words, macro over domains' if self.is_full else 'segments'}{made_by}"

    @property
    def tool(self) -> str | None:
        """The tool that produced the gold, if any; the report shows such a corpus separately."""
        return self.corpus.tool


def ranking(workspace: Workspace, corpus: str) -> Ranking:
    """Rank all extractors that have scores for the whole corpus.

    If a corpus has full gold and segments, only pages with full gold are ranked and counted.
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
    """Return the quality of each extractor, measured with full gold."""
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
