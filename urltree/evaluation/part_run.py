"""One extractor on one part of a corpus: its process is watched, ended and made anew.

    child ──"begun 3"──▶ a page runs ──outcome──▶ written
                             │ too long, too large, or the process ended: a failure is written,
                             └──▶ a new child; a stream learns the earlier pages again

A page that a process died of is not given again, so that the others are as if it were not there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import orjson

from urltree.evaluation.calling import END, OUT_OF_MEMORY, Part, call_all
from urltree.evaluation.isolation import Child
from urltree.evaluation.prediction import Failure, Prediction
from urltree.evaluation.workspace import lines_to

DEATHS = 20  # of a part's processes, after which the rest of the part has failed
PATIENCE = (
    4  # times the CPU limit that may pass on the clock: a page may sleep, or a machine be full
)
_SLACK = 2  # times the limit of memory in address space, of which more is reserved than used


class Limits(NamedTuple):
    """What a page may take.

    Attributes:
        seconds: of CPU, all threads; four times as many on the clock.
        megabytes: of memory above what the process began with.
    """

    seconds: float
    megabytes: int


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

    def __init__(self, part: Part, limits: Limits) -> None:
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
        cause = self._cause_of_death()
        return written + (self._replace(cause) if cause else 0)

    def stop(self) -> None:
        """Leave it: the process ends, and no file appears."""
        self._child.end()
        if not self.is_done:
            self._files.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)

    def _begin(self) -> None:
        work = partial(
            call_all, part=self.part, first=self._next, passed_over=frozenset(self._passed_over)
        )
        self._page: _Page | None = None
        self._is_out_of_memory = False
        self._child = Child(work, _SLACK * self._limits.megabytes << 20)
        self._since, self._cpu = time.monotonic(), 0.0  # when it said something, its CPU then

    def _take(self, line: bytes) -> int:
        """One line of the child: it moves."""
        self._since, self._cpu = time.monotonic(), self._child.cpu()
        if line.startswith(b"{"):
            self._write(line)
            self._next = self._page.place + 1 if self._page else self._next
            self._page = None
            return 1
        if line == END:
            self._finish()
        elif line == OUT_OF_MEMORY:
            self._is_out_of_memory = True
        else:
            place, id_, number, is_sampled = orjson.loads(line)
            blank = None if id_ is None else Prediction(id_, number, is_sampled, "")
            self._page = _Page(place, blank)
        return 0

    def _finish(self) -> None:
        self._child.end()
        self._files.close()
        self.is_done = True

    def _cause_of_death(self) -> tuple[Failure, str] | None:
        """Why the child cannot go on; None where it can."""
        child, (seconds, megabytes) = self._child, self._limits
        if self._is_out_of_memory:
            return "memory", f"more than {megabytes:,} MB"
        if child.is_over:
            return "crash", child.end()
        if child.memory() - child.idle > megabytes << 20:
            return "memory", f"more than {megabytes:,} MB"
        if child.cpu() - self._cpu > seconds:
            return "time", f"more than {seconds:g} s of CPU"
        if time.monotonic() - self._since > PATIENCE * seconds:
            return "time", f"more than {PATIENCE * seconds:g} s on the clock"
        return None

    def _replace(self, cause: tuple[Failure, str]) -> int:
        """End the child, write down the page that it died of, and go on with the next."""
        page, self.deaths = self._page, self.deaths + 1
        cpu = max(0.0, self._child.cpu() - self._cpu)
        rise = max(0, self._child.memory() - self._child.idle)
        self._child.end()
        written = 0
        if page is not None:
            self._passed_over.add(page.place)
            if page.blank is not None:
                self._fail(replace(page.blank, cpu=cpu, memory=rise), cause)
                self._next, written = page.place + 1, 1
        if self.deaths >= DEATHS:
            return written + self._give_up(cause)
        self._begin()
        return written

    def _give_up(self, cause: tuple[Failure, str]) -> int:
        failure, message = cause
        written = 0
        for blank in self._left():
            self._fail(blank, (failure, f"not run: {DEATHS} processes ended; {message}"))
            written += 1
        self._files.close()
        self.is_done = True
        return written

    def _left(self) -> Iterator[Prediction]:
        for place, page, blank in self.part.pages():
            if place >= self._next and page.is_scored:
                yield blank

    def _fail(self, blank: Prediction, cause: tuple[Failure, str]) -> None:
        failure, message = cause
        self._write(orjson.dumps(replace(blank, failure=failure, message=message)))
