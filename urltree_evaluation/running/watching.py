"""Decide when a process must be ended: limits of time and memory for each page.

With a limit of CPU time alone, an extractor could sleep forever. With a limit of wall-clock time,
pages would fail because the machine is busy: on two cores shared by ten processes, a busy loop got
0.12 s of CPU in 1.2 s. Therefore there are two limits: one for CPU time, and one for the wall-clock
time during which the process sleeps. Time in which the process waits for a CPU has no limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from urltree_evaluation.prediction import Failure
from urltree_evaluation.running.isolation import Child, SendLine

OUT_OF_MEMORY = b"memory"  # line of a process whose memory allocation failed
SECONDS = 30.0  # limit of CPU time for a page; the highest of 300 pages of the corpora took 1.6 s
MEGABYTES = 2048  # limit of memory for a page, above the memory at the start of the process
PATIENCE = 4  # limit of sleep, as a multiple of the limit of CPU time

_LOOK = 0.5  # seconds of sleep that one check counts at most, because a machine may be suspended
_SLACK = 2  # limit of address space, as a multiple of the memory limit, because not all is used


class Limits(NamedTuple):
    """The limits for a page.

    Attributes:
        seconds: limit of the CPU time of all threads, in seconds; the limit of sleep is four times
            as high.
        megabytes: limit of memory above the memory at the start of the process, in megabytes.
    """

    seconds: float
    megabytes: int


class Death(NamedTuple):
    """The reason why a process has ended or must be ended."""

    failure: Failure
    message: str


class Watched:
    """A child process with the resources that it has used since its last line.

    Args:
        work: function that runs in the process.
        limits: limits of the resources that the process may use between two lines.
    """

    def __init__(self, work: Callable[[SendLine], None], limits: Limits) -> None:
        self._limits = limits
        self._child = Child(work, _SLACK * limits.megabytes << 20)
        self._cpu = self._asleep = 0.0
        self._looked = time.monotonic()
        self._is_out_of_memory = False

    def fileno(self) -> int:
        """Return the file descriptor of the pipe, to wait for lines."""
        return self._child.fileno()

    def lines(self) -> list[bytes]:
        """Return the lines since the last call; each line restarts the measurement of time."""
        lines = self._child.lines()
        if lines:
            self._cpu, self._asleep = self._child.cpu(), 0.0
            self._looked = time.monotonic()
        if lines and lines[-1] == OUT_OF_MEMORY:
            self._is_out_of_memory = True
            lines.pop()
        return lines

    def death(self) -> Death | None:
        """Return the reason why the process cannot continue; None if it can continue."""
        seconds, megabytes = self._limits
        if self._is_out_of_memory or self.rise() > megabytes << 20:
            return Death("memory", f"used more than {megabytes:,} MB")
        if self._child.is_over:
            return Death("crash", self._child.end())
        if self.cpu() > seconds:
            return Death("time", f"used more than {seconds:g} s of CPU")
        if self._sleep() > PATIENCE * seconds:
            return Death("time", f"slept for more than {PATIENCE * seconds:g} s")
        return None

    def cpu(self) -> float:
        """Return the CPU time since the last line, in seconds."""
        return max(0.0, self._child.cpu() - self._cpu)

    def rise(self) -> int:
        """Return the resident memory above the memory at the start, in bytes."""
        return max(0, self._child.memory() - self._child.idle)

    def end(self) -> None:
        """Kill the process if it is alive."""
        self._child.end()

    def _sleep(self) -> float:
        """Return the time for which the process slept since its last line, in seconds."""
        before, self._looked = self._looked, time.monotonic()
        if self._child.is_asleep():
            self._asleep += min(self._looked - before, _LOOK)
        return self._asleep
