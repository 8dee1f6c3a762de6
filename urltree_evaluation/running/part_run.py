"""One extractor on one part of a corpus: its process is watched, ended and made anew.

    child ──"begun 3"──▶ a page runs ──outcome──▶ written
                             │ too long, too large, or the process ended: a failure is written,
                             └──▶ a new child; a stream learns the earlier pages again

A page that a process died of is not given again, so that the others are as if it were not there.
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

DEATHS = 20  # of a part's processes, after which the rest of the part has failed


@dataclass(slots=True)
class _Page:
    """The page that runs, and the outcome it would have: None where nobody wants that."""

    place: int
    blank: Prediction | None


class PartRun:
    """Predictions of a part, being made.

    Args:
        part: the pages, and by whom.
        limits: of each page.

    Attributes:
        is_done: all is written, and the file is in its place.
        deaths: processes that had to be made anew.
    """

    def __init__(self, part: PartTask, limits: Limits) -> None:
        self.part = part
        self.is_done = False
        self.deaths = 0
        self._limits = limits
        self._next = 0  # place of the first page without outcome
        self._passed_over: set[int] = set()
        self._files = ExitStack()
        file = part.workspace.predictions_file(part.corpus, part.extractor.name, part.name)
        self._write = self._files.enter_context(lines_to(file))
        self._begin()

    def fileno(self) -> int:
        """To wait for what the process says."""
        return self._child.fileno()

    def step(self) -> int:
        """Write what there is, and see to it that the process lives well; returns pages written."""
        written = 0
        for line in self._child.lines():
            written += self._take(line)
        if self.is_done:
            return written
        death = self._child.death()
        return written + (self._replace(death) if death else 0)

    def stop(self) -> None:
        """Leave it: the process ends, and no file appears."""
        self._child.end()
        if not self.is_done:
            with suppress(OSError):  # a full disk takes no last bytes either
                self._files.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)

    def _begin(self) -> None:
        work = partial(
            call_all, part=self.part, first=self._next, passed_over=frozenset(self._passed_over)
        )
        self._page: _Page | None = None
        self._child = Watched(work, self._limits)

    def _take(self, line: bytes) -> int:
        """One line of the child."""
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
        """End the child, write down the page that it died of, and go on with the next."""
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
        said = Death(death.failure, f"not run: {DEATHS} processes ended; {death.message}")
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
