from __future__ import annotations

import asyncio
from contextlib import ExitStack

from tests.agents.limits import GUARD
from urltree.crawl.web.budget import BodyBudget, BodyShare

MB = 1_000_000


async def waits(share: BodyShare, size: int) -> bool:
    """Return whether a body that grows to `size` bytes must wait for the budget."""
    try:
        await asyncio.wait_for(share.hold(size), 0.01)
    except TimeoutError:
        return True
    return False


def test_a_body_waits_while_all_together_are_too_large_and_goes_on_when_one_ends() -> None:
    """If all bodies together exceed the budget, younger large ones wait until the oldest ends.

    The oldest body and small bodies never wait.
    """

    async def run() -> None:
        budget = BodyBudget(5 * MB)
        with ExitStack() as first, ExitStack() as others:
            eldest = first.enter_context(budget.share())
            younger, small = (others.enter_context(budget.share()) for _ in range(2))
            assert not await waits(eldest, 3 * MB)
            assert not await waits(younger, 2 * MB)
            assert not await waits(eldest, 4 * MB)
            assert await waits(younger, 2 * MB)
            assert not await waits(small, 200_000)
            waiting = asyncio.create_task(younger.hold(2 * MB))
            await asyncio.sleep(0)
            first.close()
            await asyncio.wait_for(waiting, GUARD)

    asyncio.run(run())
