"""One extractor on the pages of one part, in a process of its own: called, timed, written down.

    begun [3, "id", 4, true] ──▶ call ──▶ {"id": "id", "number": 4, "text": …}
    begun [4, null, 5, false] ──▶ call               a page without gold: it is learned from alone

Those lines go to the parent: what was begun and has no outcome is what the process died of.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import orjson

from urltree_evaluation.corpus import CorpusPage, evenly_spaced
from urltree_evaluation.extractors.registry import (
    DuplicatePage,
    ExtractFunction,
    RegisteredExtractor,
)
from urltree_evaluation.prediction import Prediction
from urltree_evaluation.running.isolation import SendLine
from urltree_evaluation.running.watching import OUT_OF_MEMORY
from urltree_evaluation.workspace import Workspace

END = b"end"
MAX_TEXT = 32 << 20  # characters that an extractor may return: no page of the corpora has as many

_MAX_MESSAGE = 300
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class PartTask:
    """A part of a corpus, as an extractor is given it.

    Attributes:
        sample: evenly spaced pages; None is all.
    """

    workspace: Workspace
    corpus: str
    name: str
    extractor: RegisteredExtractor
    sample: int | None

    def pages(self) -> Iterator[tuple[int, CorpusPage, Prediction]]:
        """Pages to be given, their place in the part from 0, and what is known of the outcome.

        A single-page extractor gets the sampled pages that have gold; the others are not decoded.
        """
        corpus = self.workspace.corpora[self.corpus]
        is_stream = corpus.kind == "stream"
        sampled = frozenset(
            evenly_spaced(corpus.parts[self.name], self.sample if is_stream else None)
        )
        only = None if self.extractor.is_stream else sampled
        domains = Counter[str]()
        for place, page in self.workspace.numbered_pages(self.corpus, self.name, only):
            domains[page.domain] += 1
            number = place + 1 if is_stream else domains[page.domain]
            if page.is_scored or self.extractor.is_stream:
                yield place, page, Prediction(page.id, number, place in sampled, "")


def call_all(say: SendLine, part: PartTask, first: int, passed_over: frozenset[int]) -> None:
    """Give an extractor the pages of a part; say what is begun and what came of it.

    Args:
        say: a line for the parent.
        part: whose pages.
        first: place from which on outcomes are wanted; what comes before is learned again.
        passed_over: places of the pages that a process died of.
    """
    caller = _Caller(part.extractor)
    for place, page, blank in part.pages():
        is_wanted = page.is_scored and place >= first
        if place in passed_over or not (is_wanted or part.extractor.is_stream):
            continue
        say(orjson.dumps([place, page.id if is_wanted else None, blank.number, blank.is_sampled]))
        try:
            outcome = caller.call(page, blank)
        except MemoryError:
            say(OUT_OF_MEMORY)
            return
        if is_wanted:
            say(orjson.dumps(outcome))
    say(END)


class _Caller:
    """Calls one extractor page by page; it is made with the first, so that this is watched too."""

    def __init__(self, extractor: RegisteredExtractor) -> None:
        self._extractor = extractor
        self._extract: ExtractFunction | None = None

    def call(self, page: CorpusPage, blank: Prediction) -> Prediction:
        """The outcome of a page.

        Raises:
            MemoryError: this process is of no more use.
        """
        peak, begun = _peak(), time.process_time()
        try:
            outcome = replace(blank, text=self._text(page))
        except MemoryError:
            raise
        except DuplicatePage as found:
            outcome = replace(blank, failure="duplicate", message=str(found))
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises
            outcome = replace(blank, failure="exception", message=describe_exception(error))
        return replace(outcome, cpu=time.process_time() - begun, memory=_peak() - peak)

    def _text(self, page: CorpusPage) -> str:
        if self._extract is None:
            self._extract = self._extractor.make()
        text: object = self._extract(page)
        if text is None:
            return ""
        if not isinstance(text, str):
            raise TypeError(f"returned {type(text).__name__}, not text")
        if len(text) > MAX_TEXT:
            raise ValueError(f"returned {len(text):,} characters")
        return text.encode(errors="replace").decode()  # lone surrogates are no JSON


def describe_exception(error: BaseException) -> str:
    """An exception on one line, cut where it is long."""
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - a stranger's __str__
        said = type(error).__name__
    line = " ".join(said.split())[:_MAX_MESSAGE]
    return line.encode(errors="replace").decode()


def _peak() -> int:
    """Bytes that this process had resident at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
