"""Work over several processes, which leave Ctrl-C to their parent and end with it."""

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
    """A process was killed from outside, by the system where memory was short."""


def map_unordered(
    work: Callable[[_Item], _Result], items: Sequence[_Item], processes: int
) -> Iterator[_Result]:
    """Results in whichever order they are ready; one process is this one.

    Raises:
        PoolError: a process was killed; what `work` raises is raised as it is.
    """
    if processes == 1 or len(items) < 2:
        yield from map(work, items)
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _follow_the_parent)
    try:
        for done in as_completed([pool.submit(work, item) for item in items]):
            yield done.result()
    except BrokenProcessPool as error:
        raise PoolError("a process was killed: try fewer processes") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_the_parent() -> None:
    """Where it is killed they would stay for ever, each waiting for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
