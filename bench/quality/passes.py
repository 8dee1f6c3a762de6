"""Score one pass over a stream: learn each page, and score the first text of some pages.

page 1 … 30        each page is scored
page 31, 41, …     every tenth page is scored
other pages        are learned and not scored, like pages without gold
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bench.quality.variant import Variant
from urltree.extractor import Extractor
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.urltree_ import as_page
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.page_score import compare_words
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.statistics.table import ScoreTable
from urltree_evaluation.workspace import SUFFIX

FIRST = 30  # number of first pages of a site that are all scored
EVERY = 10

Measure = Literal["f1", "titled"]


class PageF1(NamedTuple):
    """The score of one page: its extracted text compared with its gold.

    Attributes:
        id: id of the page.
        site: name of the stream that contains the page.
        number: number of the page in its stream, from 1.
        f1: F1 of words.
        titled: F1 of words after the record's title is put before the text.
    """

    id: str
    site: str
    number: int
    f1: float
    titled: float


VariantScores = Mapping[Variant, Sequence[PageF1]]


@dataclass(frozen=True, slots=True)
class StreamPass:
    """The task of one process: a stream from its first page to its last.

    Attributes:
        file: the stream.
        variant: heuristic and its inputs.
        pages: highest number of pages to read; None means all pages.
        options: additional arguments for the Extractor.
    """

    file: Path
    variant: Variant
    pages: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def is_scored(number: int) -> bool:
    """Return whether the page with this number in its stream, from 1, is scored."""
    return number <= FIRST or number % EVERY == 1


def site_of(file: Path) -> str:
    """Return the name of the site of a stream's file."""
    return file.name.removesuffix(SUFFIX)


def score_text(page: CorpusPage, number: int, site: str, text: str) -> PageF1:
    """Compare a text with the gold of a page, and return the score."""
    as_it_is, titled = compare_words(PageGold(page), split_words(text))
    return PageF1(page.id, site, number, as_it_is.f1, titled.f1)


def score_stream(work: StreamPass) -> list[PageF1]:
    """Run a pass over a stream, and return the scores of its pages; duplicates have no score.

    Raises:
        CorpusError: the stream cannot be read.
        ValueError: the heuristic or an option does not exist.
    """
    site, scores = site_of(work.file), []
    with Extractor(heuristic=work.variant.heuristic, **work.options) as extractor:
        for number, page in enumerate(islice(read(work.file), work.pages), start=1):
            title = page.title if work.variant.is_titled else None
            found = extractor.extract(replace(as_page(page), title=title))
            if page.gold is not None and is_scored(number) and found.status != "duplicate":
                scores.append(score_text(page, number, site, found.text or ""))
    return scores


def score_streams(
    files: Iterable[Path],
    variants: Collection[Variant],
    *,
    pages: int | None = None,
    options: Mapping[str, Any] | None = None,
    processes: int = 1,
) -> dict[Variant, list[PageF1]]:
    """Return the scores of each variant on all streams, sorted by stream and page."""
    largest_first = sorted(files, key=lambda file: -file.stat().st_size)
    work = [
        StreamPass(file, variant, pages, options or {})
        for file in largest_first
        for variant in variants
    ]
    found: dict[Variant, list[PageF1]] = {variant: [] for variant in variants}
    for variant, scores in map_unordered(_named, work, processes):
        found[variant] += scores
    return {variant: sorted(scores, key=_place) for variant, scores in found.items()}


def score_table(columns: Mapping[str, Iterable[PageF1]], measure: Measure = "f1") -> ScoreTable:
    """Return a table of the pages that are in all columns; the sites are its domains."""
    by_id = {name: {page.id: page for page in pages} for name, pages in columns.items()}
    first = next(iter(by_id.values()))
    shared = [page for page in first.values() if all(page.id in of for of in by_id.values())]
    values = [[getattr(of[page.id], measure) for of in by_id.values()] for page in shared]
    return ScoreTable(
        names=tuple(by_id),
        ids=tuple(page.id for page in shared),
        domains=tuple(page.site for page in shared),
        numbers=np.array([page.number for page in shared], dtype=np.int64),
        boundaries=np.full((len(shared), len(by_id)), None, dtype=object),
        values=np.array(values, dtype=np.float64).reshape(len(shared), len(by_id)),
    )


def _named(work: StreamPass) -> tuple[Variant, list[PageF1]]:
    return work.variant, score_stream(work)


def _place(page: PageF1) -> tuple[str, int]:
    return page.site, page.number
