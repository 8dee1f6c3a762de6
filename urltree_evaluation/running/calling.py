"""Call one extractor on the pages of one part, inside a child process, and measure each call.

    started [3, "id", 4, true] ──▶ call ──▶ {"id": "id", "number": 4, "text": …}
    started [4, null, 5, false] ──▶ call               a page without gold has no result

The child sends these lines to its parent. If the child dies, the cause is the page that was started
and has no result.
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
MAX_TEXT = (
    32 << 20
)  # characters that an extractor may return for a page; all pages of the corpora have fewer

_MAX_MESSAGE = 300
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class PartTask:
    """A part of a corpus and the extractor to run on it.

    Attributes:
        workspace: the work folder.
        corpus: name of the corpus.
        name: name of the part.
        extractor: the extractor.
        sample: number of evenly spaced pages; None means all pages.
    """

    workspace: Workspace
    corpus: str
    name: str
    extractor: RegisteredExtractor
    sample: int | None

    def pages(self) -> Iterator[tuple[int, CorpusPage, Prediction]]:
        """Yield (index in the part, page, prediction without text) for each page to process.

        A single-page extractor gets only the sampled pages that have gold. A stream extractor gets
        all pages.
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


def call_all(send: SendLine, part: PartTask, first: int, passed_over: frozenset[int]) -> None:
    """Call an extractor with the pages of a part, and send a line before and after each call.

    Args:
        send: sends a line to the parent.
        part: the pages and the extractor.
        first: index of the first page whose result is wanted. A stream extractor learns the earlier
            pages again.
        passed_over: indexes of pages that killed an earlier process; these pages are skipped.
    """
    caller = _Caller(part.extractor)
    for place, page, blank in part.pages():
        is_wanted = page.is_scored and place >= first
        if place in passed_over or not (is_wanted or part.extractor.is_stream):
            continue
        send(orjson.dumps([place, page.id if is_wanted else None, blank.number, blank.is_sampled]))
        try:
            outcome = caller.call(page, blank)
        except MemoryError:
            send(OUT_OF_MEMORY)
            return
        if is_wanted:
            send(orjson.dumps(outcome))
    send(END)


class _Caller:
    """A caller of one extractor.

    The extractor is created at the first call, so that the limits apply to its creation, too.
    """

    def __init__(self, extractor: RegisteredExtractor) -> None:
        self._extractor = extractor
        self._extract: ExtractFunction | None = None

    def call(self, page: CorpusPage, blank: Prediction) -> Prediction:
        """Return the prediction for a page.

        Raises:
            MemoryError: the process has no memory left and must end.
        """
        peak, begun = _peak_memory(), time.process_time()
        try:
            outcome = replace(blank, text=self._text(page))
        except MemoryError:
            raise
        except DuplicatePage as found:
            outcome = replace(blank, failure="duplicate", message=str(found))
        except BaseException as error:  # noqa: BLE001 - third-party code may raise anything
            outcome = replace(blank, failure="exception", message=describe_exception(error))
        return replace(outcome, cpu=time.process_time() - begun, memory=_peak_memory() - peak)

    def _text(self, page: CorpusPage) -> str:
        if self._extract is None:
            self._extract = self._extractor.make()
        text: object = self._extract(page)
        if text is None:
            return ""
        if not isinstance(text, str):
            raise TypeError(f"returned a value of type {type(text).__name__} instead of str")
        if len(text) > MAX_TEXT:
            raise ValueError(f"returned {len(text):,} characters; the limit is {MAX_TEXT:,}")
        return text.encode(errors="replace").decode()  # JSON cannot contain lone surrogates


def describe_exception(error: BaseException) -> str:
    """Return an exception as one line of limited length."""
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - __str__ of third-party code may raise anything
        said = type(error).__name__
    line = " ".join(said.split())[:_MAX_MESSAGE]
    return line.encode(errors="replace").decode()


def _peak_memory() -> int:
    """Return the highest resident memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
