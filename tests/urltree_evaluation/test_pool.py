"""Tests of the pool of processes: if a process is killed, none remains and nothing hangs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from math import sqrt
from pathlib import Path

import psutil
import pytest

from tests import child_process
from urltree_evaluation.pool import PoolError, map_unordered

pytestmark = pytest.mark.slow

CODE = """
import sys
from pathlib import Path
from tests.urltree_evaluation.test_pool import work_for_ever
from urltree_evaluation.pool import map_unordered
list(map_unordered(work_for_ever, [Path(name) for name in sys.argv[1:]], 2))
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_each_item_has_its_result(processes: int) -> None:
    """Each item has its result; the order of the results is arbitrary."""
    assert sorted(map_unordered(sqrt, [1, 4, 9], processes)) == [1, 2, 3]


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_the_work_is_raised_as_it_is(processes: int) -> None:
    """An exception in a process is raised in the caller with the same type."""
    with pytest.raises(ValueError, match="math domain"):
        list(map_unordered(sqrt, [1, -1], processes))


def test_a_process_that_is_killed_is_an_error_that_says_so() -> None:
    """A killed process is an error that says so, and the pool does not wait for other processes."""
    with pytest.raises(PoolError, match="killed"):
        list(map_unordered(os._exit, [9, 9], 2))


def work_for_ever(file: Path) -> None:
    """Create a file to signal the start, then sleep without end."""
    file.touch()
    while True:
        time.sleep(60)


@pytest.mark.parametrize("has_begun", [False, True], ids=["starting", "begun"])
def test_processes_end_with_the_one_that_was_killed(has_begun: bool, tmp_path: Path) -> None:
    """After `kill -9` of a command, none of its child processes remains."""
    files = [tmp_path / name for name in "ab"]
    command = [sys.executable, "-c", CODE, *map(str, files)]
    environment = child_process.environment()
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as parent:
        process = psutil.Process(parent.pid)
        until(lambda: len(process.children()) == 3)  # two workers and a resource tracker
        until(lambda: not has_begun or all(file.exists() for file in files))
        children = process.children(recursive=True)
        parent.kill()
        until(lambda: not any(map(is_alive, children)))


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, for at most five minutes."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end, "the condition is still false"
        time.sleep(0.02)


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process is running; a zombie, as in containers, counts as ended."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False
