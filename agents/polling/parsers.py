"""Processes that parse feeds: a hostile one costs its own poll, and never the worker.

    poll ──body──▶ free pool ──▶ its one child ──▶ ParsedFeed
                      ▲               │ too slow, too large, killed, cancelled
                      └── a new one ◀─┘

One pool of one process each: pebble's children share a pipe and its lock, and a child that is
killed while it reads leaves both of them unusable for the others.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import signal
import sys
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import TracebackType
from typing import Self

from pebble import ProcessExpired, ProcessPool

from urltree.crawl.decisions.feed import parsing
from urltree.crawl.decisions.feed.parsing import ParsedFeed
from urltree.crawl.decisions.response import Trouble, WebError

MEMORY = 1024**3  # bytes of address space; feeds of 10 MiB took 400 MiB at most
TASKS = 1_000  # feeds after which a child is replaced, whatever it may have leaked

_GRACE = 15.0  # seconds beyond its time in which pebble should have stopped a child
_PR_SET_PDEATHSIG = 1


class Parsers:
    """A worker's parsers: an asynchronous context manager.

    Args:
        processes: that parse at the same time; further feeds wait.
        seconds: that a feed may take.
        max_items: of a feed that are looked at.
        memory: bytes of address space that a process may take.
        tasks: feeds after which a process is replaced.
    """

    def __init__(
        self,
        processes: int,
        seconds: float,
        max_items: int,
        *,
        memory: int = MEMORY,
        tasks: int = TASKS,
    ) -> None:
        self._processes = processes
        self._seconds = seconds
        self._max_items = max_items
        self._memory = memory
        self._tasks = tasks
        self._pools: set[ProcessPool] = set()
        self._free: asyncio.LifoQueue[ProcessPool] = asyncio.LifoQueue()
        self._ending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        for _ in range(self._processes):
            self._free.put_nowait(self._pool())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for pool in tuple(self._pools):
            self._end(pool)
        await asyncio.gather(*self._ending)

    async def parse(self, body: bytes, content_type: str | None, url: str) -> ParsedFeed:
        """As `urltree.crawl.decisions.feed.parsing.parse_feed`, in another process.

        Raises:
            WebError: `not-a-feed`; `too-slow`; `too-large` where it takes too much memory, or
                kills its process.
        """
        pool = await self._free.get()
        try:
            if not pool.active:  # its process was killed while it was idle
                pool = self._instead_of(pool)
            found = await self._ask(pool, (body, content_type, url, self._max_items))
        except BaseException:
            pool = self._instead_of(pool)
            raise
        finally:
            self._free.put_nowait(pool)
        if isinstance(found, WebError):
            raise found
        return found

    async def _ask(
        self, pool: ProcessPool, feed: tuple[bytes, str | None, str, int]
    ) -> ParsedFeed | WebError:
        """What the pool's process says; raises where it says nothing, and is of no more use."""
        try:
            future = pool.schedule(_parse, args=feed, timeout=self._seconds)
            async with asyncio.timeout(self._seconds + _GRACE):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            message = f"took more than {self._seconds:g} s to parse"
            raise WebError(Trouble.TOO_SLOW, message) from None
        except (ProcessExpired, BrokenProcessPool) as error:
            raise WebError(Trouble.TOO_LARGE, f"its parser was killed: {error}") from None

    def _pool(self) -> ProcessPool:
        """A pool, whose process starts with its first feed."""
        pool = ProcessPool(
            max_workers=1,
            max_tasks=self._tasks,
            initializer=_confine,
            initargs=(os.getpid(), self._memory),
            context=get_context("spawn"),  # a fork would copy locks that other threads hold
        )
        self._pools.add(pool)
        return pool

    def _instead_of(self, pool: ProcessPool) -> ProcessPool:
        self._end(pool)
        return self._pool()

    def _end(self, pool: ProcessPool) -> None:
        """Kill a pool's process, once; pebble waits for that, so a thread does."""
        if pool not in self._pools:
            return
        self._pools.remove(pool)
        pool.stop()  # type: ignore[no-untyped-call]
        ending = asyncio.create_task(asyncio.to_thread(pool.join))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def _parse(
    body: bytes, content_type: str | None, url: str, max_items: int
) -> ParsedFeed | WebError:
    """In the child: the feed's fault is returned, so that all that is raised is a fault of ours."""
    try:
        return parsing.parse_feed(body, content_type, url, max_items=max_items)
    except WebError as error:
        return error
    except MemoryError:
        return WebError(Trouble.TOO_LARGE, "takes too much memory to parse")


def _confine(worker: int, memory: int) -> None:
    """In the child: bound its memory, and let it die with its worker, even in mid-parse.

    An idle child ends when the pipe to its worker does; one that hangs in a regular expression
    takes note of nothing but a signal. Linux alone can send it that.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:  # it died before we asked for the signal
        os._exit(1)
