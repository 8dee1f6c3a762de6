"""Section 8: pages without the other pages of their site, each in a new library without title.

The mean is over pages, because each page is the first of its site for the library.
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
from bench.quality.passes import PageF1, score_page, site_of
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
# the required lead over each extractor
PEERS = {
    "readability-lxml": 0.0,
    "trafilatura-fast": -0.005,
}
_OURS = "ours"


@dataclass(frozen=True, slots=True)
class Alone:
    """The task of one process: read each page of a corpus as if it were the only one.

    Attributes:
        file: the corpus.
        options: arguments for the Extractor, including the heuristic.
        folder: folder for texts of other extractors.
        pages: largest number of pages; None for all.
    """

    file: Path
    options: Mapping[str, Any]
    folder: Path
    pages: int | None = None


def existing_corpora(folder: Path) -> list[Path]:
    """Return those files of the three corpora that exist."""
    return [file for name in CORPORA if (file := folder / (name + SUFFIX)).exists()]


def single_pages(work: Sequence[Alone], processes: int) -> QualityResult:
    """Make section 8: the difference to each extractor, on each corpus and on all pages."""
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
    method = "Each page in a new library, with its URL if it has one, without title; mean of pages."
    return QualityResult("Section 8: single pages", method, found, [shown])


def score_alone(work: Alone) -> tuple[str, dict[str, list[PageF1]]]:
    """Return the corpus's name, and the F1 of its pages by us and by each other extractor.

    Raises:
        CorpusError: the corpus cannot be read.
        ValueError: the heuristic or an option does not exist, or an extractor is not installed.
    """
    pages = [page for page in read(work.file) if page.gold is not None][: work.pages]
    said = {_OURS: {page.id: text_alone(page, work.options) for page in pages}}
    said |= {peer: peer_texts(peer, pages, work.folder) for peer in PEERS}
    return site_of(work.file), {name: _scores(pages, texts) for name, texts in said.items()}


def text_alone(page: CorpusPage, options: Mapping[str, Any]) -> str:
    """Return the text of a page from a new library."""
    with Extractor(**options) as extractor:
        return extractor.extract(replace(as_page(page), title=None)).text or ""


def _scores(pages: Iterable[CorpusPage], texts: Mapping[str, str]) -> list[PageF1]:
    return [score_page(page, 1, page.id, texts[page.id]) for page in pages]


def _figures(corpus: str, scores: Mapping[str, Sequence[PageF1]]) -> list[Measurement]:
    """Return our F1 minus that of each extractor; the bars apply to each corpus and to all."""
    both = table_of(scores)
    found = []
    for peer, bar in PEERS.items():
        ahead = differences_to(both, peer)[_OURS]
        name, note = f"{corpus}: above {peer}", format_interval(ahead, is_difference=True)
        if peer == "trafilatura-fast":
            note += "; the bar is meant with a single-page extractor"
        found.append(Measurement(name, ahead.value, DIFFERENCE, note=note, bar=at_least(bar)))
    return found
