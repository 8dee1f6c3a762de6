"""A server with an event loop in a thread of its own, for tests and benchmarks that block."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class ThreadedServer(ABC):
    """A server that listens while its context is open. All of its code runs in its thread.

    Args:
        is_daemon: whether the process may end while the server runs.
    """

    def __init__(self, *, is_daemon: bool = False) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=is_daemon)

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the thread of the server, and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @abstractmethod
    async def _listen(self) -> None:
        """Begin to accept connections."""

    @abstractmethod
    async def _close(self) -> None:
        """Stop accepting connections, and close those that are open."""
