"""Row 8: one page of a site alone: a new library for each page, no title given.

The mean is over pages: each is the first of its site to us, whatever else its corpus has of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.pages import STREAMS
from bench.quality.markdown import DIFFERENCE, Answer, at_least, f1, interval, table
from bench.quality.passes import PageF1, score, site_of
from bench.quality.passes import table as table_of
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
PEERS = {"readability-lxml": 0.0, "trafilatura-fast": -0.005}  # and how far ahead we should be
_OURS = "ours"


@dataclass(frozen=True, slots=True)
class Alone:
    """What a process does: read each page of a corpus as if there were no other.

    Attributes:
        options: of the Extractor, the heuristic among them.
        folder: where texts of others are kept.
        pages: so many at most; None is all.
    """

    file: Path
    options: Mapping[str, Any]
    folder: Path
    pages: int | None = None


def corpora(folder: Path) -> list[Path]:
    """The files of the three corpora that are there."""
    return [file for name in CORPORA if (file := folder / (name + SUFFIX)).exists()]


def single_pages(work: Sequence[Alone], processes: int) -> Answer:
    """Row 8: the difference to each peer, on each corpus and on all pages."""
    by_corpus = dict(sorted(map_unordered(score_alone, work, processes)))
    rows, found = [], list[Figure]()
    everything = {
        name: [page for scores in by_corpus.values() for page in scores[name]]
        for name in (_OURS, *PEERS)
    }
    for corpus, scores in (*by_corpus.items(), ("all", everything)):
        means = table_of(scores).macro()
        rows.append([corpus, len(scores[_OURS]), *map(f1, means.values())])
        found += _figures(corpus, scores)
    shown = table(["corpus", "pages", *means], rows)
    method = (
        "Each page in a new library, by its URL where it has one, without title; mean of pages."
    )
    return Answer("Row 8: one page alone", method, found, [shown])


def score_alone(work: Alone) -> tuple[str, dict[str, list[PageF1]]]:
    """The corpus' name, and F1 of its pages by us and by each peer; a page is its own site.

    Raises:
        CorpusError: the corpus cannot be read.
        ValueError: there is no such heuristic or option, or a peer is not installed.
    """
    pages = [page for page in read(work.file) if page.gold is not None][: work.pages]
    said = {_OURS: {page.id: text_alone(page, work.options) for page in pages}}
    said |= {peer: peer_texts(peer, pages, work.folder) for peer in PEERS}
    return site_of(work.file), {name: _scores(pages, texts) for name, texts in said.items()}


def text_alone(page: CorpusPage, options: Mapping[str, Any]) -> str:
    """What a new library says of a page."""
    with Extractor(**options) as extractor:
        return extractor.extract(replace(as_page(page), title=None)).text or ""


def _scores(pages: Iterable[CorpusPage], texts: Mapping[str, str]) -> list[PageF1]:
    return [score(page, 1, page.id, texts[page.id]) for page in pages]


def _figures(corpus: str, scores: Mapping[str, Sequence[PageF1]]) -> list[Figure]:
    """Ours minus each peer; the bars are for each corpus and for all."""
    both = table_of(scores)
    found = []
    for peer, bar in PEERS.items():
        ahead = differences_to(both, peer)[_OURS]
        name, note = f"{corpus}: above {peer}", interval(ahead, is_difference=True)
        if peer == "trafilatura-fast":
            note += "; asked with a single-page extractor's help"
        found.append(Figure(name, ahead.value, DIFFERENCE, note=note, bar=at_least(bar)))
    return found
