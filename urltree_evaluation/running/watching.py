"""When a process has to be ended: limits of time and memory on what it does with one page.

A limit of CPU alone would let a page sleep for ever, and one on the clock would fail pages because
a machine is full: on two cores that ten processes shared, 1.2 s passed while a busy loop got 0.12.
So CPU counts, and the clock only while the process sleeps: one that waits for its turn does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from urltree_evaluation.prediction import Failure
from urltree_evaluation.running.isolation import Child, SendLine

OUT_OF_MEMORY = b"memory"  # said by a process that was refused more
SECONDS = 30.0  # of CPU: 1.6 is the most that an extractor took of 300 pages of the corpora
MEGABYTES = 2048
PATIENCE = 4  # times the limit of CPU that it may sleep

_LOOK = 0.5  # seconds of sleep that one look finds at most: who looks late may have stood still too
_SLACK = 2  # times the limit of memory in address space, of which more is reserved than used


class Limits(NamedTuple):
    """What a page may take.

    Attributes:
        seconds: of CPU, all threads; of sleep four times as many.
        megabytes: of memory above what the process began with.
    """

    seconds: float
    megabytes: int


class Death(NamedTuple):
    """Why a process ended, or had to be ended."""

    failure: Failure
    message: str


class Watched:
    """A child, and what it has spent since it last said something.

    Args:
        work: runs in it.
        limits: between two lines that it says.
    """

    def __init__(self, work: Callable[[SendLine], None], limits: Limits) -> None:
        self._limits = limits
        self._child = Child(work, _SLACK * limits.megabytes << 20)
        self._cpu = self._asleep = 0.0
        self._looked = time.monotonic()
        self._is_out_of_memory = False

    def fileno(self) -> int:
        """Of the pipe, to wait for lines."""
        return self._child.fileno()

    def lines(self) -> list[bytes]:
        """What it said since it was asked last; each line begins its time anew."""
        lines = self._child.lines()
        if lines:
            self._cpu, self._asleep = self._child.cpu(), 0.0
            self._looked = time.monotonic()
        if lines and lines[-1] == OUT_OF_MEMORY:
            self._is_out_of_memory = True
            lines.pop()
        return lines

    def death(self) -> Death | None:
        """Why it cannot go on; None where it can."""
        seconds, megabytes = self._limits
        if self._is_out_of_memory or self.rise() > megabytes << 20:
            return Death("memory", f"more than {megabytes:,} MB")
        if self._child.is_over:
            return Death("crash", self._child.end())
        if self.cpu() > seconds:
            return Death("time", f"more than {seconds:g} s of CPU")
        if self._sleep() > PATIENCE * seconds:
            return Death("time", f"more than {PATIENCE * seconds:g} s asleep")
        return None

    def cpu(self) -> float:
        """Seconds since it last said something."""
        return max(0.0, self._child.cpu() - self._cpu)

    def rise(self) -> int:
        """Bytes above what it began with."""
        return max(0, self._child.memory() - self._child.idle)

    def end(self) -> None:
        """Kill it where it lives."""
        self._child.end()

    def _sleep(self) -> float:
        """Seconds in which it was found asleep since it last said something."""
        before, self._looked = self._looked, time.monotonic()
        if self._child.is_asleep():
            self._asleep += min(self._looked - before, _LOOK)
        return self._asleep
