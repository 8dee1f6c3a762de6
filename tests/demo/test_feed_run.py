"""A run on real feeds ends after its time, or at Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from demo.feed_run import ending
from tests.agents.limits import GUARD


def test_feeds_are_followed_for_as_long_as_was_said() -> None:
    """A run with a time limit ends by itself when the time is over."""

    async def run() -> None:
        async with asyncio.timeout(GUARD), ending(0.01) as end:
            assert not end.is_set()
            await end.wait()

    asyncio.run(run())


def test_the_first_interrupt_ends_in_order_and_the_next_at_once() -> None:
    """The first Ctrl-C lets the audit finish, and the second interrupts it."""

    async def run() -> None:
        async with asyncio.timeout(GUARD), ending(None) as end:
            os.kill(os.getpid(), signal.SIGINT)
            await end.wait()
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(GUARD)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run())
