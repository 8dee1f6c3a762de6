"""Work over several processes: whoever is killed, nobody stays and nothing hangs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from math import sqrt
from textwrap import dedent

import psutil
import pytest

from urltree.evaluation.pool import PoolError, each_done


@pytest.mark.parametrize("processes", [1, 2])
def test_each_item_has_its_result(processes: int) -> None:
    """In whichever order."""
    assert sorted(each_done(sqrt, [1, 4, 9], processes)) == [1, 2, 3]


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_the_work_is_raised_as_it_is(processes: int) -> None:
    """Whose fault it is does not change on the way."""
    with pytest.raises(ValueError, match="math domain"):
        list(each_done(sqrt, [1, -1], processes))


def test_a_process_that_is_killed_is_an_error_that_says_so() -> None:
    """The others are not waited for."""
    with pytest.raises(PoolError, match="killed"):
        list(each_done(os._exit, [9, 9], 2))


def test_processes_end_with_the_one_that_was_killed() -> None:
    """A kill -9 of a command leaves none of its processes behind."""
    code = """
        import time
        from urltree.evaluation.pool import each_done
        list(each_done(time.sleep, [60, 60], 2))
    """
    with subprocess.Popen(
        [sys.executable, "-c", dedent(code)], stderr=subprocess.DEVNULL
    ) as parent:
        process, deadline = psutil.Process(parent.pid), time.monotonic() + 60
        while len(children := process.children(recursive=True)) < 3:  # two, and a tracker
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)  # until they have begun
        parent.kill()
        _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
