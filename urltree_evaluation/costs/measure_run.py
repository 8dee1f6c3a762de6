"""Supervise the process that measures cost, and replace the process if a document kills it.

child ──"started"──▶ a document is processed ──seconds──▶ stored
│ too slow, too large, or the process ended
└──▶ left out for this extractor; a new child repeats the document with the other extractors
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from selectors import EVENT_READ, DefaultSelector

import orjson

from urltree_evaluation.costs.measuring import DocumentId, Documents, Trial, measure_cpu
from urltree_evaluation.extractors.registry import RegisteredExtractor
from urltree_evaluation.running.calling import END
from urltree_evaluation.running.watching import Limits, Watched
from urltree_evaluation.workspace import WorkspaceError

_LOOK = 0.1  # seconds between two checks of a process that sends no line


class MeasureRun:
    """A measurement of all trials in a child process, which is replaced if it fails.

    Args:
        documents: documents to measure.
        extractors: extractors by name.
        passes: number of passes over all documents.
        limits: limits for each document.
        left_out: trials to skip, with the reason; this class adds the trials that fail.

    Attributes:
        seconds: CPU times of each trial in seconds, one for each pass.
        sizes: size of each document in bytes, by corpus and id.
        is_done: whether all trials are measured.
    """

    def __init__(
        self,
        documents: Documents,
        extractors: Mapping[str, RegisteredExtractor],
        passes: int,
        limits: Limits,
        left_out: dict[Trial, str],
    ) -> None:
        self.seconds: dict[Trial, list[float]] = defaultdict(list)
        self.sizes: dict[DocumentId, int] = {}
        self.is_done = False
        self.left_out = left_out
        self._visit, self._trial = 0, Trial("", "", "")  # the trial that was started last
        self._died_of: Trial | None = None
        self._work = partial(measure_cpu, documents=documents, extractors=extractors, passes=passes)
        self._limits = limits
        self._begin()

    def step(self) -> int:
        """Read new lines, restart a failed process, and return the number of documents started.

        Raises:
            WorkspaceError: the restarted process fails before it calls an extractor.
        """
        with DefaultSelector() as selector:
            selector.register(self._child, EVENT_READ)
            selector.select(_LOOK)
        begun = self._visit
        for line in self._child.lines():
            self._take(line)
        if not self.is_done and (death := self._child.death()):
            self._child.end()
            if self._trial == self._died_of:
                raise WorkspaceError(
                    f"cannot measure cost: the process fails before it calls an extractor"
                    f" ({death.message})"
                )
            self.left_out[self._trial] = death.failure
            self._died_of = self._trial
            self._begin()
        return self._visit - begun

    def stop(self) -> None:
        """End the measuring process."""
        self._child.end()

    def _begin(self) -> None:
        left_out = frozenset(self.left_out)
        self._child = Watched(
            partial(self._work, first=self._visit, left_out=left_out), self._limits
        )

    def _take(self, line: bytes) -> None:
        if line == END:
            self.is_done = True
            self._visit += 1
            return
        first, *rest = orjson.loads(line)
        if rest:
            corpus, id_, extractor, size = rest
            self._visit, self._trial = first, Trial(corpus, id_, extractor)
            self.sizes[corpus, id_] = size
        elif first is None:
            self.left_out[self._trial] = "exception"
        else:
            self.seconds[self._trial].append(first)
