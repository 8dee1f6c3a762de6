"""What extractors cost: CPU as a ratio to a bare parse of the same documents, and peak memory.

    a few documents ──▶ measuring.py, in a process that may fail ──▶ seconds ──┐
    predictions/ ──▶ peak memory, and what hung or crashed: left out ──────────┴──▶ cost.json

A ratio is of sums: CPU of all documents that an extractor was measured on, by CPU of bare parses of
the same documents. A document counts with the median of its passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from selectors import EVENT_READ, DefaultSelector
from statistics import median

import numpy as np
import orjson

from urltree.evaluation.calling import END
from urltree.evaluation.cost import FILE, Cost, Document, ExtractorCost, LeftOut
from urltree.evaluation.extractors.registry import Extractor
from urltree.evaluation.measuring import PARSE, Documents, Key, measure
from urltree.evaluation.progress import Progress
from urltree.evaluation.watching import MEGABYTES, SECONDS, Limits, Watched
from urltree.evaluation.workspace import Workspace, appearing

PASSES = 3
OF_STREAM = 5  # documents of each part of a stream
OF_PAGES = 20  # of each corpus of single pages

_Id = tuple[str, str]  # of a document: corpus and id in it

_WORST = 10
_LOOK = 0.1  # seconds between two looks at a process that says nothing
_DEADLY = ("time", "memory", "crash")


def cost(  # noqa: PLR0913 - the options of the verb
    workspace: Workspace,
    extractors: Mapping[str, Extractor],
    *,
    corpora: Sequence[str] = (),
    of_stream: int = OF_STREAM,
    of_pages: int = OF_PAGES,
    passes: int = PASSES,
    seconds: float = SECONDS,
    megabytes: int = MEGABYTES,
    progress: Progress | None = None,
) -> Cost:
    """Measure extractors side by side, and write cost.json.

    Args:
        workspace: with corpora, and predictions for peak memory.
        extractors: by name.
        corpora: of these names; all, where there is none.
        of_stream: evenly spaced documents of each part of a stream.
        of_pages: of each corpus of single pages.
        passes: over all documents.
        seconds: limit of each document, as in extract; beyond it the document is left out.
        megabytes: alike.
        progress: counts documents.

    Raises:
        WorkspaceError: there is no corpus of that name.
    """
    progress = progress or Progress()
    documents = Documents(workspace, tuple(workspace.named(corpora)), of_stream, of_pages)
    progress.expect(passes * len(documents))
    side_by_side = {PARSE.name: PARSE, **extractors}
    limits = Limits(seconds, megabytes)
    left_out = dict(_deadly(documents, extractors))
    measuring = _Measuring(documents, side_by_side, passes, limits, left_out)
    try:
        while not measuring.is_done:
            progress.advance(measuring.step())
    finally:
        measuring.stop()
    found = _summary(measuring, {name: _peak_memory(documents, name) for name in extractors})
    with appearing(workspace.path / FILE) as out:
        out.write(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    return found


class _Measuring:
    """The process that measures: what it dies of is left out, and it is made anew.

    Attributes:
        seconds: of CPU, of each pass.
        sizes: bytes of each document, by corpus and id.
        left_out: why a document was not measured.
    """

    def __init__(
        self,
        documents: Documents,
        extractors: Mapping[str, Extractor],
        passes: int,
        limits: Limits,
        left_out: dict[Key, str],
    ) -> None:
        self.seconds: dict[Key, list[float]] = defaultdict(list)
        self.sizes: dict[_Id, int] = {}
        self.is_done = False
        self.left_out = left_out
        self._turn, self._key = 0, Key("", "", "")  # what was begun last
        self._work = partial(measure, documents=documents, extractors=extractors, passes=passes)
        self._limits = limits
        self._begin()

    def step(self) -> int:
        """Take what it says, and see to it that it lives well; returns documents begun."""
        with DefaultSelector() as selector:
            selector.register(self._child, EVENT_READ)
            selector.select(_LOOK)
        begun = self._turn
        for line in self._child.lines():
            self._take(line)
        if not self.is_done and (death := self._child.death()):
            self._child.end()
            self.left_out[self._key] = death.failure
            self._begin()
        return self._turn - begun

    def stop(self) -> None:
        """End its process."""
        self._child.end()

    def _begin(self) -> None:
        left_out = frozenset(self.left_out)
        self._child = Watched(
            partial(self._work, first=self._turn, left_out=left_out), self._limits
        )

    def _take(self, line: bytes) -> None:
        if line == END:
            self.is_done = True
            return
        first, *rest = orjson.loads(line)
        if rest:
            corpus, id_, extractor, size = rest
            self._turn, self._key = first, Key(corpus, id_, extractor)
            self.sizes[corpus, id_] = size
        elif first is None:
            self.left_out[self._key] = "exception"
        else:
            self.seconds[self._key].append(first)


def _summary(measuring: _Measuring, peaks: Mapping[str, int | None]) -> Cost:
    """Of all that was measured; a document whose bare parse failed counts nowhere."""
    taken: dict[str, dict[_Id, float]] = defaultdict(dict)
    for key, seconds in measuring.seconds.items():
        if key not in measuring.left_out:
            taken[key.extractor][key[:2]] = median(seconds)
    left_out: dict[str, list[LeftOut]] = defaultdict(list)
    for key, why in measuring.left_out.items():
        left_out[key.extractor].append(LeftOut(key.corpus, key.id, why))
    bare, sizes = taken[PARSE.name], measuring.sizes
    return Cost(
        documents=len(bare),
        bytes=sum(map(sizes.__getitem__, bare)),
        seconds=sum(bare.values()),
        extractors={
            name: _of_one(taken[name], bare, sizes, left_out[name], peak)
            for name, peak in peaks.items()
            if taken[name].keys() & bare.keys()
        },
    )


def _of_one(
    taken: Mapping[_Id, float],
    bare: Mapping[_Id, float],
    sizes: Mapping[_Id, int],
    left_out: Sequence[LeftOut],
    peak_memory: int | None,
) -> ExtractorCost:
    both = taken.keys() & bare.keys()
    ratios = {document: taken[document] / bare[document] for document in both}
    worst = sorted(ratios, key=ratios.__getitem__, reverse=True)[:_WORST]
    first, middle, third = np.percentile(list(ratios.values()), [25, 50, 75])
    return ExtractorCost(
        ratio=sum(taken[document] for document in both) / sum(bare[document] for document in both),
        seconds=sum(taken[document] for document in both),
        documents=len(both),
        bytes=sum(sizes[document] for document in both),
        quartiles=(float(first), float(middle), float(third)),
        worst=tuple(Document(*document, ratios[document]) for document in worst),
        left_out=tuple(left_out),
        peak_memory=peak_memory,
    )


def _deadly(documents: Documents, extractors: Iterable[str]) -> Iterator[tuple[Key, str]]:
    """What extract had to end a process for: it would end this one."""
    for corpus, extractor, part in _predicted(documents, extractors):
        for each in documents.workspace.predictions(corpus, extractor, part):
            if each.failure in _DEADLY:
                yield Key(corpus, each.id, extractor), each.failure


def _peak_memory(documents: Documents, extractor: str) -> int | None:
    """Bytes above idle: the rises of a part's pages add up to its peak; the most of all parts."""
    workspace = documents.workspace
    return max(
        (
            sum(each.memory for each in workspace.predictions(corpus, name, part))
            for corpus, name, part in _predicted(documents, [extractor])
        ),
        default=None,
    )


def _predicted(documents: Documents, extractors: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Corpus, extractor and part of all predictions that there are."""
    for corpus in documents.corpora:
        for extractor in extractors:
            for part in corpus.parts:
                file = documents.workspace.predictions_file(corpus.name, extractor, part)
                if file.exists():
                    yield corpus.name, extractor, part
