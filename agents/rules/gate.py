"""The gate before each request of a worker: no request begins or continues against the rules.

    rules current? ──▶ record still ours? ──▶ verdict ──▶ request ◀── cancelled if rules change
         └─ no: wait                              └─ denied, removed: StoppedError

The gate is the last step before the connection: whatever a request waits for before it, the rules
may have changed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from urltree.crawl.decisions.rules.rules import NO_PAGE, Denied, Removed, WaitingPage

Answer = TypeVar("Answer")


class KnownVerdicts(Protocol):
    """The rules as a worker knows them (`agents.rules.watcher.RulesWatcher`)."""

    def is_current(self) -> bool:
        """Return whether the rules are young enough for a request to begin."""

    async def until_current(self) -> None:
        """Wait until the rules are young enough for a request to begin."""

    def verdict(self, url: str, page: WaitingPage = NO_PAGE) -> Denied | Removed | None:
        """Decide whether an address may be requested."""


class StoppedError(Exception):
    """A rule forbids a request, or has ended it.

    Args:
        verdict: what the rules say; it has the reason and the message of the dead letter.
    """

    def __init__(self, verdict: Denied | Removed) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


class RequestGate:
    """The gate of one worker.

    Args:
        rules: the rules as the worker knows them.
    """

    def __init__(self, rules: KnownVerdicts) -> None:
        self._rules = rules
        self._running: dict[asyncio.Task[Any], tuple[str, WaitingPage]] = {}
        self._stopped: dict[asyncio.Task[Any], Denied | Removed] = {}

    async def admit(self, is_ours: Callable[[], Awaitable[bool]]) -> bool:
        """Wait until the rules are current; return whether the record is ours at that time.

        Args:
            is_ours: returns whether the partition of the record belongs to this worker; it may wait
                for an answer of Kafka, in which the rules grow old.
        """
        while True:
            await self._rules.until_current()
            if not await is_ours():
                return False
            if self._rules.is_current():
                return True

    async def send(
        self, url: str, page: WaitingPage, request: Callable[[], Coroutine[Any, Any, Answer]]
    ) -> Answer:
        """Send a request unless a rule forbids it, and end it if a rule forbids it meanwhile.

        Call it right after `admit`, without a wait between them.

        Args:
            url: address of the request.
            page: the page for which it is sent.
            request: sends the request.

        Raises:
            StoppedError: a rule forbids the request.
        """
        found = self._rules.verdict(url, page)
        if found is not None:
            raise StoppedError(found)
        task = asyncio.create_task(request())
        self._running[task] = url, page
        try:
            return await task
        except asyncio.CancelledError:
            stopped = self._stopped.get(task)
            if stopped is None or not task.cancelled():
                raise
            raise StoppedError(stopped) from None
        finally:
            task.cancel()
            self._running.pop(task, None)
            self._stopped.pop(task, None)

    def check(self) -> None:
        """End the running requests that rules forbid now; to be called when rules have changed."""
        for task, (url, page) in list(self._running.items()):
            found = self._rules.verdict(url, page)
            if found is not None and not task.done():
                self._stopped[task] = found
                task.cancel()
