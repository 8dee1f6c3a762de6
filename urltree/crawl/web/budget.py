"""A limit on the bytes of all bodies that are in memory at the same time.

Without this limit, a hundred responses of 10 MB that do not end would take 1 GB. The worker would
be killed, and would request the same pages again after its restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

_FREE = 256 * 1024  # size in bytes to which any body may grow; nearly all pages are smaller


class BodyShare:
    """The share of the budget that one body uses."""

    def __init__(self, budget: BodyBudget) -> None:
        self._budget = budget

    async def hold(self, size: int) -> None:
        """Record the current size of the body; wait until the body may grow further."""
        await self._budget.hold(self, size)


class BodyBudget:
    """A budget that lets bodies grow while their total size is at most `max_bytes`.

    There are two exceptions. The oldest body may always grow, so that at least one body is
    completed. And every body may grow to 256 KiB.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._sizes: dict[BodyShare, int] = {}  # oldest first
        self._freed = asyncio.Event()

    @contextmanager
    def share(self) -> Iterator[BodyShare]:
        """Return a context with the share of one body; leave it when the body is complete."""
        share = BodyShare(self)
        self._sizes[share] = 0
        try:
            yield share
        finally:
            del self._sizes[share]
            self._freed.set()
            self._freed = asyncio.Event()

    async def hold(self, share: BodyShare, size: int) -> None:
        """Record the current size of a body; see `BodyShare.hold`."""
        self._sizes[share] = size
        while size > _FREE and self._is_over() and share is not next(iter(self._sizes)):
            await self._freed.wait()

    def _is_over(self) -> bool:
        return sum(self._sizes.values()) > self._max_bytes
