"""A limit on the bytes of all bodies that are in memory at the same time.

A hundred responses of 10 MB that all hang would take 1 GB. The worker would be killed, and would
request the same pages again after its restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

_FREE = 256 * 1024  # bytes that a body may always have; nearly all pages are smaller


class BodyShare:
    """The part of the budget that one body uses."""

    def __init__(self, budget: BodyBudget) -> None:
        self._budget = budget

    async def hold(self, size: int) -> None:
        """Record the size of the body so far; wait until it may grow."""
        await self._budget.hold(self, size)


class BodyBudget:
    """Lets bodies grow while their total size is at most `max_bytes`.

    The oldest body may always grow, so that at least one body is completed. So the limit is
    `max_bytes`, one body, and 256 KiB for each other body.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._sizes: dict[BodyShare, int] = {}  # oldest first
        self._freed = asyncio.Event()

    @contextmanager
    def share(self) -> Iterator[BodyShare]:
        """Reserve a share for a body, from its first byte to its last."""
        share = BodyShare(self)
        self._sizes[share] = 0
        try:
            yield share
        finally:
            del self._sizes[share]
            self._freed.set()
            self._freed = asyncio.Event()

    async def hold(self, share: BodyShare, size: int) -> None:
        """Record the size of a body; see `BodyShare.hold`."""
        self._sizes[share] = size
        while size > _FREE and self._is_over() and share is not next(iter(self._sizes)):
            await self._freed.wait()

    def _is_over(self) -> bool:
        return sum(self._sizes.values()) > self._max_bytes
