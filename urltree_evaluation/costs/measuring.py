"""CPU of extractors side by side: each document is given to all, one after the other.

    pass 1: document 1: parse, A, B, C    document 2: A, B, C, parse    …
    pass 2: the same, with new extractors

What the machine does meanwhile slows all alike, so that their ratios stay. All documents lie
between two passes, so that what an extractor keeps of a page does not help it with that page.
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

DocumentId = tuple[str, str]  # corpus, and id in it


class Trial(NamedTuple):
    """One document given to one extractor."""

    corpus: str
    id: str
    extractor: str


@dataclass(frozen=True, slots=True)
class Documents:
    """Which documents are measured: evenly spaced ones.

    Attributes:
        of_stream: so many of each part of a stream.
        of_pages: so many of each corpus of single pages.
    """

    workspace: Workspace
    corpora: tuple[Corpus, ...]
    of_stream: int
    of_pages: int

    def parts(self) -> Iterator[tuple[Corpus, Iterator[CorpusPage]]]:
        """Documents of one part after the other."""
        for corpus in self.corpora:
            for part, pages in corpus.parts.items():
                only = frozenset(evenly_spaced(pages, self._wanted(corpus)))
                numbered = self.workspace.numbered_pages(corpus.name, part, only)
                yield corpus, (page for _, page in numbered)

    def __len__(self) -> int:
        """Documents of all parts."""
        return sum(
            min(pages, self._wanted(corpus))
            for corpus in self.corpora
            for pages in corpus.parts.values()
        )

    def _wanted(self, corpus: Corpus) -> int:
        return self.of_stream if corpus.kind == "stream" else self.of_pages


def parse_only(page: CorpusPage) -> None:
    """A bare parse: the least that an extractor does."""
    parser = lxml_html.HTMLParser(encoding="utf-8")
    lxml_html.document_fromstring(page.html.encode(errors="replace"), parser)


PARSE = RegisteredExtractor(
    "bare parse", "lxml.html", lambda: parse_only, is_stream=False, package=None, module=__name__
)


def measure_cpu(  # noqa: PLR0913, PLR0917 - one parameter a decision
    say: SendLine,
    documents: Documents,
    extractors: Mapping[str, RegisteredExtractor],
    passes: int,
    first: int,
    left_out: Collection[Trial],
) -> None:
    """Say what begins, [turn, corpus, id, extractor, bytes], and what it took: [seconds or null].

    Args:
        say: a line for the parent.
        documents: to be measured.
        extractors: by name; those of streams are given documents of streams alone.
        passes: over all documents.
        first: turn to begin with; a turn is a document of a pass, from 0.
        left_out: what is not called.
    """
    turns = count()
    for _ in range(passes):
        for corpus, pages in documents.parts():
            called = [x for x in extractors.values() if corpus.kind == "stream" or not x.is_stream]
            made: dict[str, ExtractFunction] = {}
            gc.collect()
            gc.freeze()  # so that to collect before each call takes no time
            for page, turn in zip(pages, turns, strict=False):
                for each in _in_turn(called, turn) if turn >= first else ():
                    if (key := Trial(corpus.name, page.id, each.name)) not in left_out:
                        say(orjson.dumps([turn, *key, len(page.html.encode(errors="replace"))]))
                        say(_timed(made, each, page))
    say(END)


def _in_turn(called: list[RegisteredExtractor], turn: int) -> list[RegisteredExtractor]:
    """Another is first each time, so that none always follows the same."""
    first = turn % max(len(called), 1)
    return called[first:] + called[:first]


def _timed(
    made: dict[str, ExtractFunction], extractor: RegisteredExtractor, page: CorpusPage
) -> bytes:
    """Seconds of CPU as the line to say, without those of making it; null where it fails."""
    try:
        if extractor.name not in made:
            made[extractor.name] = extractor.make()
        gc.collect()  # what others left is not its own
        begun = time.process_time()
        made[extractor.name](page)
    except MemoryError:
        return OUT_OF_MEMORY
    except DuplicatePage:
        pass
    except BaseException:  # noqa: BLE001 - whatever a stranger's code raises
        return orjson.dumps([None])
    return orjson.dumps([time.process_time() - begun])
