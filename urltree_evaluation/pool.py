"""A pool of processes that ignore Ctrl-C and end when their parent process ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class PoolError(RuntimeError):
    """A process of the pool was killed from outside, for example because memory ran out."""


def map_unordered(
    work: Callable[[_Item], _Result], items: Sequence[_Item], processes: int
) -> Iterator[_Result]:
    """Call `work` for each item, and yield the results in the order in which they are ready.

    If `processes` is 1 or there is only one item, the calls happen in the current process. An
    exception that `work` raises is passed on unchanged.

    Raises:
        PoolError: a process of the pool was killed.
    """
    if processes == 1 or len(items) < 2:
        yield from map(work, items)
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _follow_the_parent)
    try:
        for done in as_completed([pool.submit(work, item) for item in items]):
            yield done.result()
    except BrokenProcessPool as error:
        raise PoolError(
            "A worker process was killed, probably because memory ran out. Run again with a lower"
            " --processes."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_the_parent() -> None:
    """Ignore Ctrl-C, and end this process when its parent ends, even if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
