"""Tests of a child process that may fail: its lines, and how its end is reported."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import psutil
import pytest

from urltree_evaluation.running.isolation import Child, SendLine
from urltree_evaluation.running.watching import Limits, Watched

MEMORY = 1 << 30


def said(child: Child) -> list[bytes]:
    """Return all lines that a child process sends until its end."""
    lines = []
    while not child.is_over:
        lines += child.lines()
        time.sleep(0.001)
    return lines


def nothing(_say: SendLine) -> None:
    """Return immediately, which ends the process."""


def raises(_say: SendLine) -> None:
    """Raise an exception."""
    raise ValueError


def exits(_say: SendLine) -> None:
    """End the process with exit code 7."""
    os._exit(7)


def kills_itself(_say: SendLine) -> None:
    """End the process by a signal."""
    os.kill(os.getpid(), signal.SIGUSR1)


@pytest.mark.parametrize(
    ("work", "ending"),
    [
        (nothing, "exit code 0"),
        (raises, "exit code 1"),
        (exits, "exit code 7"),
        (kills_itself, "SIGUSR1"),
    ],
)
def test_how_a_child_ended_is_known(work: Callable[[SendLine], None], ending: str) -> None:
    """`end` returns the exit code or signal of the child, also when `end` is called again."""
    child = Child(work, MEMORY)
    assert said(child) == []
    assert [child.end(), child.end()] == [ending] * 2


def test_lines_come_whole_and_in_order() -> None:
    """All lines of a child arrive complete and in order.

    They may be empty, or longer than a pipe's buffer.
    """
    lines = [b"x" * size for size in (0, 1, 70_000, 3_000_000, 0, 5)]

    def say_all(say: SendLine) -> None:
        for line in lines:
            say(line)

    child = Child(say_all, MEMORY)
    assert said(child) == lines
    child.end()


def test_nobody_waits_for_a_child_that_says_nothing() -> None:
    """`lines` returns immediately if the child has sent nothing."""
    child = Child(lambda _: time.sleep(60), MEMORY)
    assert child.lines() == []
    assert not child.is_over
    assert child.end() == "SIGKILL"


def test_a_child_that_was_ended_is_gone() -> None:
    """After `end`, the child and its own child processes have ended, and no zombie remains."""

    def start_another(say: SendLine) -> None:
        other = os.fork() or time.sleep(60)
        say(b"%d" % other)
        time.sleep(60)

    before = psutil.Process().children()  # processes of other tests
    child = Child(start_another, MEMORY)
    while not (lines := child.lines()):
        time.sleep(0.001)
    child.end()
    other = int(lines[0])
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(other).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.001)
    assert psutil.Process().children() == before


def test_what_a_child_does_to_its_interpreter_stays_there() -> None:
    """A child does not change its parent's stdout, process group or handling of SIGINT."""
    before = (signal.getsignal(signal.SIGINT), os.getpgid(0), os.fstat(1).st_ino)
    child = Child(nothing, MEMORY)
    said(child)
    child.end()
    assert (signal.getsignal(signal.SIGINT), os.getpgid(0), os.fstat(1).st_ino) == before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_who_looks_late_blames_nobody_for_it() -> None:
    """A long time in which the parent does not check is not counted as sleep of the child.

    The machine may have been suspended during this time.
    """
    watched = Watched(lambda _: time.sleep(60), Limits(seconds=0.3, megabytes=1000))
    time.sleep(1.5)  # longer than the limit of sleep, which is 1.2 s
    assert watched.death() is None
    while not (death := watched.death()):
        time.sleep(0.01)
    assert death.message == "slept for more than 1.2 s"
    watched.end()
