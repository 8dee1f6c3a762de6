"""Processes that parse feeds, so that a hostile feed ends only its own poll and not the worker.

    fetch ──body──▶ free pool ──▶ its one process ──▶ ReadSource
                       ▲               │ too slow, too large, killed, cancelled
                       └─ a new pool ◀─┘

Each pool has one process: the processes of one pebble pool share a pipe and its lock, and a process
that is killed while it reads makes both unusable for the others.
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

from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.decisions.source import reading
from urltree.crawl.decisions.source.reading import Reading, ReadSource

MEMORY = 1024**3  # bytes of address space per process; feeds of 10 MiB needed at most 400 MiB
TASKS = 1_000  # number of feeds after which a process is replaced, in case it leaks memory

_GRACE = 15.0  # seconds in which pebble must end a process after the time limit of its feed
_PR_SET_PDEATHSIG = 1


class Parsers:
    """The parser processes of a worker; an asynchronous context manager.

    Args:
        processes: number of processes; if all are busy, the next feed waits.
        seconds: time limit for a feed.
        max_items: number of items read from a feed.
        memory: limit of a process's address space in bytes.
        tasks: number of feeds after which a process is replaced.
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

    async def parse(
        self, body: bytes, content_type: str | None, url: str, how: Reading | None = None
    ) -> ReadSource:
        """Parse a body in another process, with `urltree.crawl.decisions.source.reading`.

        Args:
            body: decompressed body.
            content_type: value of the header Content-Type.
            url: address of the response.
            how: what to read; None for a feed.

        Raises:
            WebError: `not-a-feed`; `too-slow`; `too-large` if parsing takes too much memory or
                kills its process.
        """
        pool = await self._free.get()
        try:
            if not pool.active:  # the pool's process was killed while it was idle
                pool = self._instead_of(pool)
            how = how or Reading(max_items=self._max_items)
            found = await self._ask(pool, (body, content_type, url, how))
        except BaseException:
            pool = self._instead_of(pool)
            raise
        finally:
            self._free.put_nowait(pool)
        if isinstance(found, WebError):
            raise found
        return found

    async def _ask(
        self, pool: ProcessPool, feed: tuple[bytes, str | None, str, Reading]
    ) -> ReadSource | WebError:
        """Return the result of the pool's process.

        If this raises an error, the pool cannot be used any more.
        """
        try:
            future = pool.schedule(_parse, args=feed, timeout=self._seconds)
            async with asyncio.timeout(self._seconds + _GRACE):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            message = f"parsing took longer than {self._seconds:g} s"
            raise WebError(Trouble.TOO_SLOW, message) from None
        except (ProcessExpired, BrokenProcessPool) as error:
            raise WebError(
                Trouble.TOO_LARGE, f"the process that parsed the feed was killed: {error}"
            ) from None

    def _pool(self) -> ProcessPool:
        """Make a pool; its process starts when the pool gets its first feed."""
        pool = ProcessPool(
            max_workers=1,
            max_tasks=self._tasks,
            initializer=_confine,
            initargs=(os.getpid(), self._memory),
            context=get_context("spawn"),  # fork would copy locks that other threads have taken
        )
        self._pools.add(pool)
        return pool

    def _instead_of(self, pool: ProcessPool) -> ProcessPool:
        self._end(pool)
        return self._pool()

    def _end(self, pool: ProcessPool) -> None:
        """Kill a pool's process, in a thread, because pebble waits until the process has ended."""
        if pool not in self._pools:
            return
        self._pools.remove(pool)
        pool.stop()  # type: ignore[no-untyped-call]
        ending = asyncio.create_task(asyncio.to_thread(pool.join))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def _parse(body: bytes, content_type: str | None, url: str, how: Reading) -> ReadSource | WebError:
    """Parse a feed in the child process.

    An error in the feed is returned, so that a raised exception always means an error in our code.
    """
    try:
        return reading.read_source(body, content_type, url, how)
    except WebError as error:
        return error
    except MemoryError:
        return WebError(Trouble.TOO_LARGE, "parsing the feed takes too much memory")


def _confine(worker: int, memory: int) -> None:
    """Limit the child's memory, and make it end together with its worker, even while it parses.

    An idle child ends when the pipe to its worker closes. A child inside a long regular expression
    ends only by a signal, which only Linux sends on the death of the parent.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:  # the worker ended before the signal was set up
        os._exit(1)
