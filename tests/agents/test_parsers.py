"""Feeds are parsed in separate processes, so that a hostile feed fails only its own poll."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import psutil
import pytest

from agents.fetching.parsers import Parsers
from tests import child_process
from tests.agents.limits import GUARD
from tests.agents.parsing import FEED, GREEDY, SLOW, SMALL, children, is_well, run, trouble
from urltree.crawl.decisions.response import Trouble

pytestmark = pytest.mark.slow

MIB = 1024**2


async def until(holds: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(GUARD):
        while not holds():  # noqa: ASYNC110 - the condition has no event
            await asyncio.sleep(0.02)


async def in_the_middle() -> psutil.Process:
    """Wait until the only parser process has worked for 0.2 s of CPU time, and return it."""
    (child,) = children()
    before = sum(child.cpu_times()[:2])
    await until(lambda: sum(child.cpu_times()[:2]) >= before + 0.2)
    return child


def test_a_feed_is_parsed_and_what_is_none_is_refused() -> None:
    """A process that has refused a body parses the next feed."""

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        before = children()
        assert await trouble(parsers, b"<html>") is Trouble.NOT_A_FEED
        assert await is_well(parsers)
        assert children() == before

    run(test)


def test_a_slow_feed_is_an_error_and_others_go_on() -> None:
    """A feed that takes too long causes an error; meanwhile the other process parses feeds.

    The short time limit applies only to the slow feed, so a pause of the machine is harmless.
    """

    async def test(parsers: Parsers) -> None:
        assert await asyncio.gather(is_well(parsers), is_well(parsers)) == [True, True]
        stuck = asyncio.create_task(parsers.parse(SLOW, "text/xml", FEED))
        for _ in range(3):
            assert await is_well(parsers)
        assert not stuck.done()
        stuck.cancel()
        parsers._seconds = 1.0
        assert await trouble(parsers, SLOW) is Trouble.TOO_SLOW
        parsers._seconds = GUARD
        assert await is_well(parsers)

    run(test, processes=2)


def test_a_process_that_is_killed_costs_its_feed_alone() -> None:
    """If a parser process is killed, for example for lack of memory, only its feed fails."""

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        slow = asyncio.create_task(trouble(parsers, SLOW))
        (await in_the_middle()).kill()
        assert await slow is Trouble.TOO_LARGE
        assert await is_well(parsers)

    run(test)


def test_a_process_that_is_killed_while_it_is_idle_costs_nothing() -> None:
    """A parser process that is killed while it is idle is replaced before the next feed."""

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        (pool,) = parsers._pools
        children()[0].kill()
        await until(lambda: not pool.active)
        assert await is_well(parsers)

    run(test)


@pytest.mark.skipif(sys.platform != "linux", reason="memory can be limited only on Linux")
def test_memory_is_limited() -> None:
    """A feed that needs too much memory causes an error, during its transfer or its parsing."""

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        assert await trouble(parsers, GREEDY) is Trouble.TOO_LARGE
        assert await trouble(parsers, b"x" * 200 * MIB) is Trouble.TOO_LARGE
        assert await is_well(parsers)

    run(test, memory=192 * MIB)


def test_a_cancelled_poll_frees_its_process() -> None:
    """A poll that is cancelled, as in a rebalance, frees its process for the next feed."""

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        slow = asyncio.create_task(parsers.parse(SLOW, "text/xml", FEED))
        waiting = asyncio.create_task(parsers.parse(SMALL, "text/xml", FEED))
        await in_the_middle()
        slow.cancel()
        with suppress(asyncio.CancelledError):
            await slow
        assert slow.cancelled()
        assert len((await waiting).items) == 2

    run(test)


def test_an_end_in_the_middle_leaves_no_process() -> None:
    """If the parsers are closed while one parses a feed, no process is left."""

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        slow = asyncio.create_task(parsers.parse(SLOW, "text/xml", FEED))
        await in_the_middle()
        slow.cancel()

    run(test)


def test_processes_are_replaced() -> None:
    """A parser process is replaced after `tasks` feeds, which limits leaked memory."""

    async def test(parsers: Parsers) -> None:
        seen = set[int]()
        async with asyncio.timeout(GUARD):
            while len(seen) < 2:  # one process may have ended before the next one starts
                assert await is_well(parsers)
                seen |= {child.pid for child in children()}

    run(test, tasks=1)


WORKER = """
import asyncio
from agents.fetching.parsers import Parsers
from tests.agents.parsing import SLOW, SMALL

async def work():
    async with Parsers(2, 600, 1_000) as parsers:
        await parsers.parse(SMALL, None, "https://a.org/")
        slow = asyncio.create_task(parsers.parse(SLOW, None, "https://a.org/"))
        await parsers.parse(SMALL, None, "https://a.org/")
        print("parsing", flush=True)
        await slow

asyncio.run(work())
"""


def test_processes_end_with_a_worker_that_is_killed() -> None:
    """If a worker is killed, its parser processes end, both the idle and the working one."""
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER], env=child_process.environment(), stdout=subprocess.PIPE
    )
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"parsing\n"
        started = psutil.Process(worker.pid).children(recursive=True)
        assert len(started) >= 2
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()
    asyncio.run(until(lambda: not any(child.is_running() for child in started)))
