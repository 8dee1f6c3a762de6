"""How many bytes of bodies are held at once: many hosts may answer much at the same time.

A hundred answers of 10 MB each, which then hang, would be 1 GB; the worker would be killed, and
fetch the same pages again after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

_FREE = 256 * 1024  # nearly all pages; nobody waits below it


class BodyShare:
    """Of one body in the budget."""

    def __init__(self, budget: BodyBudget) -> None:
        self._budget = budget

    async def hold(self, size: int) -> None:
        """Say how many bytes the body has by now; wait until it may grow."""
        await self._budget.hold(self, size)


class BodyBudget:
    """Lets bodies grow while all of them together are within `max_bytes`.

    The eldest may always grow, so that one body at least comes to its end: the bound is
    `max_bytes`, one body, and 256 KiB for each of the others.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._sizes: dict[BodyShare, int] = {}  # eldest first
        self._freed = asyncio.Event()

    @contextmanager
    def share(self) -> Iterator[BodyShare]:
        """A body, from its first byte to its last."""
        share = BodyShare(self)
        self._sizes[share] = 0
        try:
            yield share
        finally:
            del self._sizes[share]
            self._freed.set()
            self._freed = asyncio.Event()

    async def hold(self, share: BodyShare, size: int) -> None:
        """See `Share.hold`."""
        self._sizes[share] = size
        while size > _FREE and self._is_over() and share is not next(iter(self._sizes)):
            await self._freed.wait()

    def _is_over(self) -> bool:
        return sum(self._sizes.values()) > self._max_bytes
