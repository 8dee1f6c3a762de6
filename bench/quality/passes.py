"""One pass over a stream: every page is learned, and some are scored by what is said of them first.

page 1 … 30        each is scored
page 31, 41, …     and every tenth
all others         are learned from alone, as are those without gold
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

FIRST = 30  # pages of a site that are all scored
EVERY = 10

Measure = Literal["f1", "titled"]


class PageF1(NamedTuple):
    """What was said of a page, against its gold.

    Attributes:
        number: of the page in its stream, from 1.
        f1, titled: of words, as it is and with the record's title prepended.
    """

    id: str
    site: str
    number: int
    f1: float
    titled: float


Scores = Mapping[Variant, Sequence[PageF1]]


@dataclass(frozen=True, slots=True)
class Pass:
    """What a process does: a stream from its first page to its last.

    Attributes:
        pages: so many at most; None is all.
        options: more arguments of the Extractor.
    """

    file: Path
    variant: Variant
    pages: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def is_scored(number: int) -> bool:
    """Whether a page of a stream is, by its number from 1."""
    return number <= FIRST or number % EVERY == 1


def site_of(file: Path) -> str:
    """The name of a stream."""
    return file.name.removesuffix(SUFFIX)


def score(page: CorpusPage, number: int, site: str, text: str) -> PageF1:
    """Hold a text to a page's gold."""
    as_it_is, titled = compare_words(PageGold(page), split_words(text))
    return PageF1(page.id, site, number, as_it_is.f1, titled.f1)


def follow(work: Pass) -> list[PageF1]:
    """Scores of a pass; what the library calls a duplicate is in none.

    Raises:
        CorpusError: the stream cannot be read.
        ValueError: there is no such heuristic or option.
    """
    site, scores = site_of(work.file), []
    with Extractor(heuristic=work.variant.heuristic, **work.options) as extractor:
        for number, page in enumerate(islice(read(work.file), work.pages), start=1):
            title = page.title if work.variant.is_titled else None
            found = extractor.extract(replace(as_page(page), title=title))
            if page.gold is not None and is_scored(number) and found.status != "duplicate":
                scores.append(score(page, number, site, found.text or ""))
    return scores


def follow_all(
    files: Iterable[Path],
    variants: Collection[Variant],
    *,
    pages: int | None = None,
    options: Mapping[str, Any] | None = None,
    processes: int = 1,
) -> dict[Variant, list[PageF1]]:
    """Scores of all passes, in the order of streams and pages."""
    largest_first = sorted(files, key=lambda file: -file.stat().st_size)
    work = [
        Pass(file, variant, pages, options or {}) for file in largest_first for variant in variants
    ]
    found: dict[Variant, list[PageF1]] = {variant: [] for variant in variants}
    for variant, scores in map_unordered(_named, work, processes):
        found[variant] += scores
    return {variant: sorted(scores, key=_place) for variant, scores in found.items()}


def table(columns: Mapping[str, Iterable[PageF1]], measure: Measure = "f1") -> ScoreTable:
    """F1 of the pages that all columns have, a site being a domain: what figures are made of."""
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


def _named(work: Pass) -> tuple[Variant, list[PageF1]]:
    return work.variant, follow(work)


def _place(page: PageF1) -> tuple[str, int]:
    return page.site, page.number
