"""Measure the CPU time of extractors side by side: each document is given to all of them in turn.

    pass 1: document 1: parse, A, B, C    document 2: A, B, C, parse    …
    pass 2: the same, with new extractors

Other work on the machine slows all extractors equally, so the ratios of their times are stable. All
other documents are processed between two passes over the same document, so an extractor gains
nothing from a cache.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import orjson
from lxml import html as lxml_html

from urltree_evaluation.corpus import Corpus, CorpusPage, evenly_spaced
from urltree_evaluation.extractors.registry import (
    DuplicatePage,
    ExtractFunction,
    RegisteredExtractor,
)
from urltree_evaluation.running.calling import END
from urltree_evaluation.running.isolation import SendLine
from urltree_evaluation.running.watching import OUT_OF_MEMORY
from urltree_evaluation.workspace import Workspace

DocumentId = tuple[str, str]  # name of the corpus, and id of the page


class Trial(NamedTuple):
    """The measurement of one extractor on one document."""

    corpus: str
    id: str
    extractor: str


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents to measure; in each part, they are evenly spaced.

    Attributes:
        workspace: the work folder.
        corpora: the corpora that contain the documents.
        of_stream: number of documents of each part of a stream.
        of_pages: number of documents of each corpus of single pages.
    """

    workspace: Workspace
    corpora: tuple[Corpus, ...]
    of_stream: int
    of_pages: int

    def parts(self) -> Iterator[tuple[Corpus, Iterator[CorpusPage]]]:
        """Yield the corpus of each part with the documents to measure in that part."""
        for corpus in self.corpora:
            for part, pages in corpus.parts.items():
                only = frozenset(evenly_spaced(pages, self._wanted(corpus)))
                numbered = self.workspace.numbered_pages(corpus.name, part, only)
                yield corpus, (page for _, page in numbered)

    def __len__(self) -> int:
        """Return the number of documents of all parts."""
        return sum(
            min(pages, self._wanted(corpus))
            for corpus in self.corpora
            for pages in corpus.parts.values()
        )

    def _wanted(self, corpus: Corpus) -> int:
        return self.of_stream if corpus.kind == "stream" else self.of_pages


def parse_only(page: CorpusPage) -> None:
    """Parse a page and do nothing else; every extractor does at least this work."""
    parser = lxml_html.HTMLParser(encoding="utf-8")
    lxml_html.document_fromstring(page.html.encode(errors="replace"), parser)


PARSE = RegisteredExtractor(
    "bare parse", "lxml.html", lambda: parse_only, is_stream=False, package=None, module=__name__
)


def measure_cpu(  # noqa: PLR0913, PLR0917 - each parameter is a separate choice
    send: SendLine,
    documents: Documents,
    extractors: Mapping[str, RegisteredExtractor],
    passes: int,
    first: int,
    left_out: Collection[Trial],
) -> None:
    """Send [visit, corpus, id, extractor, bytes] before each call, and [seconds or null] after it.

    Args:
        send: sends a line to the parent.
        documents: documents to measure.
        extractors: extractors by name; a stream extractor gets only documents of streams.
        passes: number of passes over all documents.
        first: number of the visit to start with. A visit is one document in one pass; the first
            visit is 0.
        left_out: trials to skip.
    """
    visits = count()
    for _ in range(passes):
        for corpus, pages in documents.parts():
            called = [x for x in extractors.values() if corpus.kind == "stream" or not x.is_stream]
            made: dict[str, ExtractFunction] = {}
            gc.collect()
            gc.freeze()  # makes the garbage collection before each call fast
            for page, visit in zip(pages, visits, strict=False):
                for each in _rotate(called, visit) if visit >= first else ():
                    if (key := Trial(corpus.name, page.id, each.name)) not in left_out:
                        send(orjson.dumps([visit, *key, len(page.html.encode(errors="replace"))]))
                        send(_time_call(made, each, page))
    send(END)


def _rotate(called: list[RegisteredExtractor], visit: int) -> list[RegisteredExtractor]:
    """Rotate the order of the extractors, so that each of them is first for some documents."""
    first = visit % max(len(called), 1)
    return called[first:] + called[:first]


def _time_call(
    made: dict[str, ExtractFunction], extractor: RegisteredExtractor, page: CorpusPage
) -> bytes:
    """Return the CPU time of a call as a line to send.

    The line contains null if the call failed. If memory ran out, the line is `OUT_OF_MEMORY`. The
    time to create the extractor is not included.
    """
    try:
        if extractor.name not in made:
            made[extractor.name] = extractor.make()
        gc.collect()  # so that this call does not pay for the garbage of other extractors
        begun = time.process_time()
        made[extractor.name](page)
    except MemoryError:
        return OUT_OF_MEMORY
    except DuplicatePage:
        pass
    except BaseException:  # noqa: BLE001 - third-party code may raise anything
        return orjson.dumps([None])
    return orjson.dumps([time.process_time() - begun])
