"""Run one extractor on one part of a corpus, and replace its process when it fails.

    child ──"started 3"──▶ a page is processed ──result──▶ written
                             │ too slow, too large, or the process ended: a failure is written
                             └──▶ new child; a stream extractor learns earlier pages again

A page that killed a process is not processed again. The other results are therefore the same as if
that page did not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial

import orjson

from urltree_evaluation.prediction import Prediction
from urltree_evaluation.running.calling import END, PartTask, call_all
from urltree_evaluation.running.watching import Death, Limits, Watched
from urltree_evaluation.workspace import lines_to

DEATHS = 20  # number of dead processes after which all other pages of a part count as failed


@dataclass(slots=True)
class _Page:
    """The page that the child processes.

    Attributes:
        place: index of the page in its part.
        blank: prediction without text; None if no result is wanted for the page.
    """

    place: int
    blank: Prediction | None


class PartRun:
    """A run of one extractor on one part of a corpus, which writes the predictions to a file.

    Args:
        part: the pages and the extractor.
        limits: limits of time and memory for each page.

    Attributes:
        is_done: whether all predictions are written and the file has its final name.
        deaths: number of processes that were replaced.
    """

    def __init__(self, part: PartTask, limits: Limits) -> None:
        self.part = part
        self.is_done = False
        self.deaths = 0
        self._limits = limits
        self._next = 0  # index of the first page without result
        self._passed_over: set[int] = set()
        self._files = ExitStack()
        file = part.workspace.predictions_file(part.corpus, part.extractor.name, part.name)
        self._write = self._files.enter_context(lines_to(file))
        self._begin()

    def fileno(self) -> int:
        """Return the file descriptor on which lines of the process arrive."""
        return self._child.fileno()

    def step(self) -> int:
        """Write new results, replace a failed process, and return the number of results written."""
        written = 0
        for line in self._child.lines():
            written += self._take(line)
        if self.is_done:
            return written
        death = self._child.death()
        return written + (self._replace(death) if death else 0)

    def stop(self) -> None:
        """End the process without creating the file."""
        self._child.end()
        if not self.is_done:
            with suppress(OSError):  # on a full disk, the last bytes cannot be written
                self._files.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)

    def _begin(self) -> None:
        work = partial(
            call_all, part=self.part, first=self._next, passed_over=frozenset(self._passed_over)
        )
        self._page: _Page | None = None
        self._child = Watched(work, self._limits)

    def _take(self, line: bytes) -> int:
        """Handle one line of the child, and return the number of results written."""
        if line.startswith(b"{"):
            self._write(line)
            self._next = self._page.place + 1 if self._page else self._next
            self._page = None
            return 1
        if line == END:
            self._finish()
        else:
            place, id_, number, is_sampled = orjson.loads(line)
            blank = None if id_ is None else Prediction(id_, number, is_sampled, "")
            self._page = _Page(place, blank)
        return 0

    def _finish(self) -> None:
        self._child.end()
        self._files.close()
        self.is_done = True

    def _replace(self, death: Death) -> int:
        """End the child, write a failure for its page, and continue with the next page."""
        page, self.deaths = self._page, self.deaths + 1
        cpu, rise = self._child.cpu(), self._child.rise()
        self._child.end()
        written = 0
        if page is not None:
            self._passed_over.add(page.place)
            if page.blank is not None:
                self._fail(replace(page.blank, cpu=cpu, memory=rise), death)
                self._next, written = page.place + 1, 1
        if self.deaths >= DEATHS:
            return written + self._give_up(death)
        self._begin()
        return written

    def _give_up(self, death: Death) -> int:
        said = Death(death.failure, f"not run: {DEATHS} processes failed before; {death.message}")
        written = 0
        for blank in self._left():
            self._fail(blank, said)
            written += 1
        self._files.close()
        self.is_done = True
        return written

    def _left(self) -> Iterator[Prediction]:
        for place, page, blank in self.part.pages():
            if place >= self._next and page.is_scored:
                yield blank

    def _fail(self, blank: Prediction, death: Death) -> None:
        self._write(orjson.dumps(replace(blank, failure=death.failure, message=death.message)))
