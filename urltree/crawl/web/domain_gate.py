"""The wait of a request until the limits of its domain allow it (`shared_limits.py`)."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from urltree.crawl.decisions.host.shared_limits import SharedLimits


class DomainSlot:
    """The slot that a request of a domain holds.

    Args:
        limits: limits of all domains.
        clock: clock of the gate.
        domain: domain of the request.
        counted_at: time at which the limits have counted the request.
    """

    def __init__(
        self, limits: SharedLimits, clock: Callable[[], float], domain: str, counted_at: float
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._domain = domain
        self._counted_at = counted_at

    async def begin(self) -> None:
        """Wait until the request may begin now. Call this after all other waits."""
        while True:
            now = self._clock()
            at = self._limits.begin_later(self._domain, self._counted_at, now)
            if at <= now:
                self._counted_at = now
                return
            await asyncio.sleep(at - now)


class DomainGate:
    """The requests that wait for the limits of their domains, in the order in which they came.

    Args:
        limits: limits of all domains.
        clock: returns seconds; it never goes back.
    """

    def __init__(self, limits: SharedLimits, clock: Callable[[], float] = monotonic) -> None:
        self._limits = limits
        self._clock = clock
        # The first request of a domain waits for its limits, the others wait for the lock.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._users: defaultdict[str, int] = defaultdict(int)
        self._ended: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @asynccontextmanager
    async def slot(self, domain: str) -> AsyncIterator[DomainSlot]:
        """Wait until a request to a domain may begin; leave the context when it has ended."""
        self._users[domain] += 1
        try:
            async with self._locks[domain]:
                await self._wait(domain)
                counted_at = self._clock()
                self._limits.begin(domain, counted_at)
            try:
                yield DomainSlot(self._limits, self._clock, domain, counted_at)
            finally:
                self._limits.end(domain, self._clock())
                self._ended[domain].set()
        finally:
            self._users[domain] -= 1
            if not self._users[domain]:
                for table in (self._users, self._locks, self._ended):
                    table.pop(domain, None)

    async def _wait(self, domain: str) -> None:
        while (at := self._limits.may_begin(domain, now := self._clock())) > now:
            if at < math.inf:
                await asyncio.sleep(at - now)
            else:
                self._ended[domain].clear()
                await self._ended[domain].wait()
