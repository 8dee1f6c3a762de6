"""The process that measures cost: what it dies of is left out, and it is made anew.

child ──"begun"──▶ a document runs ──seconds──▶ kept
│ too long, too large, or the process ended
└──▶ left out; a new child goes on with that document
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

_LOOK = 0.1  # seconds between two looks at a process that says nothing


class MeasureRun:
    """Documents being measured.

    Args:
        documents: to be measured.
        extractors: by name.
        passes: over all documents.
        limits: of a document.
        left_out: what is not tried, and why; what fails is added.

    Attributes:
        seconds: of CPU, of each pass.
        sizes: bytes of each document, by corpus and id.
        is_done: all are measured.
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
        self._turn, self._key = 0, Trial("", "", "")  # what was begun last
        self._died_of: Trial | None = None
        self._work = partial(measure_cpu, documents=documents, extractors=extractors, passes=passes)
        self._limits = limits
        self._begin()

    def step(self) -> int:
        """Take what it says, and see to it that it lives well; returns documents begun.

        Raises:
            WorkspaceError: the process ends without being in an extractor.
        """
        with DefaultSelector() as selector:
            selector.register(self._child, EVENT_READ)
            selector.select(_LOOK)
        begun = self._turn
        for line in self._child.lines():
            self._take(line)
        if not self.is_done and (death := self._child.death()):
            self._child.end()
            if self._key == self._died_of:
                raise WorkspaceError(f"no document can be measured: {death.message}")
            self.left_out[self._key] = death.failure
            self._died_of = self._key
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
            self._turn += 1
            return
        first, *rest = orjson.loads(line)
        if rest:
            corpus, id_, extractor, size = rest
            self._turn, self._key = first, Trial(corpus, id_, extractor)
            self.sizes[corpus, id_] = size
        elif first is None:
            self.left_out[self._key] = "exception"
        else:
            self.seconds[self._key].append(first)
