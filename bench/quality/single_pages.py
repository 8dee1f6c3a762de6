"""Section 8: extract each page alone, with a new Extractor and without the record's title.

The result is the mean over pages, not over sites, because each Extractor gets only one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.figure import Measurement
from bench.pages import STREAMS
from bench.quality.markdown import (
    DIFFERENCE,
    QualityResult,
    at_least,
    format_interval,
    four_digits,
    markdown_table,
)
from bench.quality.passes import PageF1, score_text, site_of
from bench.quality.passes import score_table as table_of
from bench.quality.peers import peer_texts
from urltree.extractor import Extractor
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.urltree_ import as_page
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.statistics.bootstrap import differences_to
from urltree_evaluation.workspace import SUFFIX

PAGES = STREAMS.parent / "pages"
CORPORA = ("scrapinghub-article-extraction-benchmark", "magic-html-article", "cleanportaleval")
# lowest allowed value of our F1 minus the F1 of each other extractor
PEERS = {
    "readability-lxml": 0.0,
    "trafilatura-fast": -0.005,
}
_OURS = "ours"


@dataclass(frozen=True, slots=True)
class Alone:
    """The task of one process: extract each page of a corpus as if there were no other page.

    Attributes:
        file: the corpus.
        options: arguments for the Extractor, including the heuristic.
        folder: folder in which the texts of other extractors are stored.
        pages: highest number of pages; None means all pages.
    """

    file: Path
    options: Mapping[str, Any]
    folder: Path
    pages: int | None = None


def existing_corpora(folder: Path) -> list[Path]:
    """Return the files of the corpora in `CORPORA` that exist in a folder."""
    return [file for name in CORPORA if (file := folder / (name + SUFFIX)).exists()]


def single_pages(work: Sequence[Alone], processes: int) -> QualityResult:
    """Make section 8: our difference to each extractor, on each corpus and on all pages."""
    by_corpus = dict(sorted(map_unordered(score_alone, work, processes)))
    rows, found = [], list[Measurement]()
    everything = {
        name: [page for scores in by_corpus.values() for page in scores[name]]
        for name in (_OURS, *PEERS)
    }
    for corpus, scores in (*by_corpus.items(), ("all", everything)):
        means = table_of(scores).macro()
        rows.append([corpus, len(scores[_OURS]), *map(four_digits, means.values())])
        found += _figures(corpus, scores)
    shown = markdown_table(["corpus", "pages", *means], rows)
    method = "Each page alone, with its URL if it has one and without title; means over pages."
    return QualityResult("Section 8: single pages", method, found, [shown])


def score_alone(work: Alone) -> tuple[str, dict[str, list[PageF1]]]:
    """Return the name of a corpus, and the scores of its pages by ours and each other extractor.

    Raises:
        CorpusError: the corpus cannot be read.
        ValueError: the heuristic or an option does not exist, or an extractor is not installed.
    """
    pages = [page for page in read(work.file) if page.gold is not None][: work.pages]
    said = {_OURS: {page.id: text_alone(page, work.options) for page in pages}}
    said |= {peer: peer_texts(peer, pages, work.folder) for peer in PEERS}
    return site_of(work.file), {name: _scores(pages, texts) for name, texts in said.items()}


def text_alone(page: CorpusPage, options: Mapping[str, Any]) -> str:
    """Return the text that a new Extractor finds in a page without the record's title."""
    with Extractor(**options) as extractor:
        return extractor.extract(replace(as_page(page), title=None)).text or ""


def _scores(pages: Iterable[CorpusPage], texts: Mapping[str, str]) -> list[PageF1]:
    return [score_text(page, 1, page.id, texts[page.id]) for page in pages]


def _figures(corpus: str, scores: Mapping[str, Sequence[PageF1]]) -> list[Measurement]:
    """Return our F1 minus the F1 of each other extractor, with its limit."""
    both = table_of(scores)
    found = []
    for peer, bar in PEERS.items():
        ahead = differences_to(both, peer)[_OURS]
        name, note = f"{corpus}: above {peer}", format_interval(ahead, is_difference=True)
        if peer == "trafilatura-fast":
            note += "; the bar is meant with a single-page extractor"
        found.append(Measurement(name, ahead.value, DIFFERENCE, note=note, bar=at_least(bar)))
    return found
