"""Measure heuristics on generated streams: one pass of a new Extractor, which gets the titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench.hard_streams.ceiling import ceiling
from bench.hard_streams.generators import GENERATORS, SECTIONS, merge_sites, site_pages
from urltree.extractor import Extractor
from urltree_evaluation.corpus import CorpusPage, evenly_spaced
from urltree_evaluation.extractors.urltree_ import as_page
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.page_score import compare_words
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.workspace import SUFFIX


@dataclass(frozen=True, slots=True)
class StreamTask:
    """The task of one process: all generators on one site, or `sections` on several sites.

    Attributes:
        files: one stream, or the streams to merge.
        pages: number of pages that are read from the start of each stream.
        scored: number of scored pages of a generated stream; these pages are evenly spaced.
        generators: names of generators.
        heuristics: names of heuristics.
        options: additional arguments for the Extractor.
    """

    files: tuple[Path, ...]
    pages: int
    scored: int
    generators: tuple[str, ...]
    heuristics: tuple[str, ...]
    options: Mapping[str, Any]


class GeneratorScore(NamedTuple):
    """The mean scores of one heuristic on one generated stream.

    Attributes:
        generator, heuristic, site: names of the generator, the heuristic and the site.
        pages: number of scored pages.
        ceiling: mean of the best F1 that a selection of blocks can have.
        f1: mean F1 of the texts.
        titled: mean F1 of the texts with the title prepended.
        f1_without, titled_without: `f1` and `titled` for the real pages, without the generator.
    """

    generator: str
    heuristic: str
    site: str
    pages: int
    ceiling: float
    f1: float
    titled: float
    f1_without: float
    titled_without: float


_F1 = tuple[float, float]


def measure_generators(work: StreamTask) -> list[GeneratorScore]:
    """Score all heuristics on all generated streams of a task."""
    if work.generators == (SECTIONS,):
        merged = merge_sites(work.files, work.pages)
        kept = {page.id for page in merged}
        sites = [[p for p in site_pages(file, work.pages) if p.id in kept] for file in work.files]
        return list(_measured(work, SECTIONS, SECTIONS, merged, _Real(work, sites)))
    pages = site_pages(work.files[0], work.pages)
    real = _Real(work, [pages])
    name = work.files[0].name.removesuffix(SUFFIX)
    return [
        measured
        for generator in work.generators
        for measured in _measured(work, generator, name, GENERATORS[generator](pages), real)
    ]


class _Real:
    """Scores on the real streams; each score is computed when it is first needed."""

    def __init__(self, work: StreamTask, sites: Sequence[Sequence[CorpusPage]]) -> None:
        self._pages = {page.id: page for pages in sites for page in pages}
        self._sites = sites
        self._work = work
        self._texts = cache(self._said)
        self.f1 = cache(self._f1)

    def _f1(self, heuristic: str, page_id: str) -> _F1:
        page = self._pages[page_id]
        return _score(page, self._texts(heuristic).get(page.url, ""))

    def _said(self, heuristic: str) -> dict[str, str]:
        return {
            url: text
            for pages in self._sites
            for url, text in extract_texts(pages, heuristic, self._work.options).items()
        }


def extract_texts(
    pages: Iterable[CorpusPage], heuristic: str, options: Mapping[str, Any]
) -> dict[str, str]:
    """Return the last text that the library extracts at each address, in one pass over a stream."""
    said = {}
    with Extractor(heuristic=heuristic, **options) as extractor:
        for page in pages:
            found = extractor.extract(replace(as_page(page), title=page.title))
            if found.status == "ok":
                said[page.url] = found.text or ""
    return said


def _measured(
    work: StreamTask, generator: str, name: str, pages: Sequence[CorpusPage], real: _Real
) -> Iterator[GeneratorScore]:
    # If an address is fetched several times, only its last version is scored.
    latest = {page.url: page for page in pages}
    scored = [page for page in latest.values() if page.gold is not None]
    scored = [scored[number] for number in evenly_spaced(len(scored), work.scored)]
    if not scored:
        return
    best = _mean(ceiling(page) for page in scored)
    for heuristic in work.heuristics:
        said = extract_texts(pages, heuristic, work.options)
        found = [_score(page, said.get(page.url, "")) for page in scored]
        without = [real.f1(heuristic, page.id.partition("~")[0]) for page in scored]
        figures = [
            _mean(column) for column in (*zip(*found, strict=True), *zip(*without, strict=True))
        ]
        yield GeneratorScore(generator, heuristic, name, len(scored), best, *figures)


def _score(page: CorpusPage, text: str) -> _F1:
    as_it_is, with_title = compare_words(PageGold(page), split_words(text))
    return as_it_is.f1, with_title.f1


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
