"""Measure our heuristics on every 10th page of each stream, unchanged and masked.

    page ──▶ tree ─────────▶ each heuristic ──▶ F1 of words, without and with title
      └──▶ masked ──▶ tree ─▶ each heuristic ──▶ F1 of words, without and with title

The pages of a site are learned in order by two trees with the paper's eviction. The paper's
heuristics share one tree; our own heuristic, `evidence`, has the other. The title of the record is
not given to the heuristics. Pages without gold are learned and not scored. A page whose URL key
occurred before is skipped.

Masked and unmasked values may differ in the sixth digit even without tuning, because documents with
the same time are evicted in the order of their ids, and the ids are hashes of URLs (measured:
0.000002 in the mean of 22 sites).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Self

from urltree.address.url_key import KeyScheme
from urltree.document import Document, kept_text
from urltree.heuristics.protocol import Heuristic
from urltree.heuristics.registry import DEFAULT, NAMES, heuristic
from urltree.html.tokenizer import tokenize
from urltree.reading.stream import InputError, open_decompressed
from urltree.site.site import Site
from urltree.tree.window import Eviction
from urltree_evaluation.corpora.corpus_files import CorpusError
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.urltree_ import as_page
from urltree_evaluation.gate.floors import FIGURES, GateFigures
from urltree_evaluation.gate.masking import Masking
from urltree_evaluation.metrics.page_gold import PageGold
from urltree_evaluation.metrics.page_score import compare_words
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.progress import Progress
from urltree_evaluation.workspace import SUFFIX

EVERY = 10

_PAPERS = "strict"  # this heuristic learns the tree that all heuristics of the paper share

F1ByPage = dict[tuple[str, str, str], list[float]]  # F1 of each page, by heuristic, site and metric


@dataclass(frozen=True)
class Streams:
    """A folder of streams.

    Attributes:
        corpus: sha256 of the lines of all files, in the order of their names.
        pages: number of pages in each file.
    """

    corpus: str
    pages: dict[Path, int]

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the streams of a folder.

        Raises:
            CorpusError: the folder contains no stream, or a stream cannot be read.
        """
        digest, pages = sha256(), {}
        for file in sorted(folder.glob(f"*{SUFFIX}")):
            pages[file] = 0
            try:
                with open_decompressed(str(file)) as lines:
                    for line in lines:
                        digest.update(line)
                        pages[file] += 1
            except InputError as error:
                raise CorpusError(str(error)) from error
        if not pages:
            raise CorpusError(f"{folder}: contains no stream, that is, no file DOMAIN{SUFFIX}")
        return cls(digest.hexdigest(), pages)


def measure_heuristics(
    streams: Streams, processes: int = 1, progress: Progress | None = None
) -> GateFigures:
    """Score all heuristics on all streams.

    Args:
        streams: streams to read.
        processes: number of processes. Each process reads one file at a time; the largest files are
            read first.
        progress: display of the number of pages in the files that are done.

    Raises:
        CorpusError: a file cannot be read, a line is not a page, or no page has gold.
        PageError: a page cannot be processed.
    """
    progress = progress or Progress()
    progress.expect(sum(streams.pages.values()))
    scores: F1ByPage = defaultdict(list)
    files = sorted(streams.pages, key=lambda file: -streams.pages[file])
    for file, of_file in map_unordered(_score_named, files, processes):
        for key, of_pages in of_file.items():
            scores[key] += of_pages
        progress.advance(streams.pages[file])
    if not scores:
        raise CorpusError("nothing can be scored: no page of the streams has gold")
    means = {key: fmean(of) for key, of in scores.items()}
    sites = sorted({site for _, site, _ in scores})
    found = {
        name: {site: {figure: means[name, site, figure] for figure in FIGURES} for site in sites}
        for name in NAMES
    }
    pages = sum(len(scores[NAMES[0], site, FIGURES[0]]) for site in sites)
    return GateFigures(streams.corpus, pages, found)


def score_file(file: Path) -> F1ByPage:
    """Return the F1 of every 10th page of a stream, if the page has gold, unchanged and masked."""
    scores: F1ByPage = defaultdict(list)
    masking = cache(Masking)
    plain, masked = _Trees(), _Trees()
    for number, page in enumerate(read(file)):
        document = plain.learn(page)
        hidden = masked.learn(_mask_page(page, masking(page.domain)))
        if page.gold is None or number % EVERY:
            continue
        f1 = _f1_function(page)
        for prefix, trees, learned in (("", plain, document), ("masked ", masked, hidden)):
            for name, text in trees.texts(learned).items() if learned else ():
                as_it_is, with_title = f1(text)
                scores[name, page.domain, f"{prefix}words"].append(as_it_is)
                scores[name, page.domain, f"{prefix}words+title"].append(with_title)
    return dict(scores)


class _Trees:
    """The trees of a stream, which has two trees for each domain.

    The heuristic `evidence` learns one tree. The heuristics of the paper share the other tree.
    """

    def __init__(self) -> None:
        self._scheme = KeyScheme()
        self._papers: list[Heuristic] = [heuristic(name) for name in NAMES if name != DEFAULT]
        self._domains: dict[tuple[str, str], Site] = {}
        self._seen: set[str] = set()
        self._first = ""  # the text that `evidence` keeps of the latest document

    def learn(self, page: CorpusPage) -> Document | None:
        """Learn a page and return its document; return None if its URL key was seen before."""
        given = as_page(page)
        tokens = cache(lambda: tokenize(page.html))
        key = self._scheme.key(page.url, lambda: tokens().title)
        if key.id in self._seen:
            return None
        self._seen.add(key.id)
        document = Document.of(given, key, tokens(), page.id)
        self._domain(key.domain, _PAPERS).learn(document, None)
        lesson = self._domain(key.domain, DEFAULT).learn(document, None)
        self._first = kept_text(document, lesson.verdict.boilerplate)
        return document

    def texts(self, document: Document) -> dict[str, str]:
        """Return the text that each heuristic keeps of the latest document."""
        domain = self._domain(document.domain, _PAPERS)
        leaf = domain.tree.leaf(document.key_bytes)
        return {DEFAULT: self._first} | {
            each.name: kept_text(document, each.judge(document, leaf, domain.paths).boilerplate)
            for each in self._papers
        }

    def _domain(self, name: str, learner: str) -> Site:
        known = self._domains.get((name, learner))
        if known is None:
            known = self._domains[name, learner] = Site(heuristic(learner), Eviction())
        return known


def _mask_page(page: CorpusPage, masking: Masking) -> CorpusPage:
    return replace(page, url=masking.url(page.url), html=masking.html(page.html), title=None)


def _f1_function(page: CorpusPage) -> Callable[[str], tuple[float, float]]:
    """Return a function for F1 of a text without and with title.

    The function has a cache, because heuristics often keep the same text.
    """
    gold = PageGold(page)

    @cache
    def f1(text: str) -> tuple[float, float]:
        as_it_is, with_title = compare_words(gold, split_words(text))
        return as_it_is.f1, with_title.f1

    return f1


def _score_named(file: Path) -> tuple[Path, F1ByPage]:
    return file, score_file(file)
