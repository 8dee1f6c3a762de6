"""Requests wait until the limits of their domain allow them."""

from __future__ import annotations

import asyncio

from tests.agents.limits import GUARD
from urltree.crawl.decisions.host.shared_limits import SharedLimits
from urltree.crawl.web.domain_gate import DomainGate


def test_requests_wait_in_order_and_cancelled_ones_are_skipped() -> None:
    """With one request at once, the next one begins when the first ends; others do not wait."""
    began: list[str] = []

    async def run() -> None:
        gate = DomainGate(SharedLimits(1, 1e9))
        ends = {name: asyncio.Event() for name in ("first", "second", "third", "other")}

        async def request(name: str, domain: str = "a.example") -> None:
            async with gate.slot(domain):
                began.append(name)
                await ends[name].wait()

        tasks = {name: asyncio.create_task(request(name)) for name in ("first", "second", "third")}
        tasks["other"] = asyncio.create_task(request("other", "b.example"))
        await asyncio.sleep(0.01)
        assert began == ["first", "other"]
        tasks["second"].cancel()
        ends["first"].set()
        await tasks["first"]
        await asyncio.sleep(0.01)
        assert began == ["first", "other", "third"]
        for end in ends.values():
            end.set()
        await asyncio.wait(tasks.values())
        assert not gate._users
        assert not gate._locks
        assert not gate._ended

    asyncio.run(run())


def test_requests_wait_for_the_rate() -> None:
    """The request above the rate begins when the clock allows it, by the gate's own clock."""
    now = 0.0

    async def run() -> None:
        nonlocal now
        gate = DomainGate(SharedLimits(9, 2), clock=lambda: now)
        began = 0

        async def request() -> None:
            nonlocal began
            async with gate.slot("a.example"):
                began += 1

        tasks = [asyncio.create_task(request()) for _ in range(4)]
        await asyncio.sleep(0.01)
        assert began == 2
        now = 1.0
        async with asyncio.timeout(GUARD):
            await asyncio.gather(*tasks)
        assert began == 4

    asyncio.run(run())


def test_a_request_that_waited_elsewhere_waits_for_the_rate_again() -> None:
    """A slot that was free long ago does not allow a request beside two that begin now."""
    now = 0.0

    async def run() -> None:
        nonlocal now
        gate = DomainGate(SharedLimits(9, 2), clock=lambda: now)
        async with gate.slot("a.example") as early:
            now = 5.0
            async with gate.slot("a.example") as first, gate.slot("a.example") as second:
                await first.begin()
                await second.begin()
                waiting = asyncio.create_task(early.begin())
                await asyncio.sleep(0.01)
                assert not waiting.done()
                waiting.cancel()
            now = 6.0
            async with asyncio.timeout(GUARD):
                await early.begin()

    asyncio.run(run())
