"""The wait of a request until the limits of its domain allow it (`shared_limits.py`)."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from urltree.crawl.decisions.host.shared_limits import SharedLimits


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
    async def slot(self, domain: str) -> AsyncIterator[None]:
        """Wait until a request to a domain may begin; leave the context when it has ended."""
        self._users[domain] += 1
        try:
            async with self._locks[domain]:
                await self._wait(domain)
                self._limits.begin(domain, self._clock())
            try:
                yield
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
