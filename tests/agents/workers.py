"""Helpers to run stages on a real Kafka within the process of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from agents.extract import Extract
from agents.normalize import Normalize
from agents.settings.job import Settings
from agents.stage import MakeStage, Stage
from tests.agents.limits import GUARD

PATIENCE = GUARD
BOTH: tuple[MakeStage, ...] = (Normalize, Extract)


@asynccontextmanager
async def started(settings: Settings, *makes: MakeStage) -> AsyncIterator[list[Stage]]:
    """Run stages until the block ends; an error of a stage fails the test."""
    failures: list[BaseException] = []
    stages = [make(settings, failures.append) for make in makes]
    await asyncio.gather(*(stage.app.start() for stage in stages))
    try:
        yield stages
    finally:
        await asyncio.gather(*(stage.app.stop() for stage in stages))
    assert not failures


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - the condition has no event
            await asyncio.sleep(0.05)


async def idle(stages: Sequence[Stage]) -> None:
    """Wait until the stages have confirmed all published records."""
    async with asyncio.timeout(PATIENCE):
        for stage in stages:
            while not await is_idle(stage):  # noqa: ASYNC110 - the condition has no event
                await asyncio.sleep(0.05)


async def is_idle(stage: Stage) -> bool:
    """Return whether a stage has confirmed all records of its partitions."""
    consumer = stage.app.consumer
    if not is_ready(stage) or stage.delivery.records:
        return False
    tps = [tp for tp in consumer.assignment() if tp.topic in stage.sources]
    # Compute the finished offsets before reading the end offsets: a record that is finished between
    # these two steps may publish another record.
    done = {tp: consumer._new_offset(tp) or consumer._committed_offset[tp] or 0 for tp in tps}
    ends = await consumer.highwaters(*tps)
    return bool(tps) and all(done[tp] >= ends[tp] for tp in tps)


def has_partitions(stage: Stage) -> bool:
    """Return whether a stage is ready and owns at least one partition of its topics."""
    return is_ready(stage) and any(
        tp.topic in stage.sources for tp in stage.app.consumer.assignment()
    )


def is_ready(stage: Stage) -> bool:
    """Return whether a stage's tables are recovered and no rebalance is in progress."""
    return bool(stage.app.tables.actives_ready) and not stage.app.rebalancing


def work(settings: Settings, *makes: MakeStage) -> list[Stage]:
    """Run stages until they have confirmed all published records; return the stopped stages."""

    async def through() -> list[Stage]:
        async with started(settings, *(makes or BOTH)) as stages:
            await idle(stages)
        return stages

    return asyncio.run(through())


def run(scenario: Awaitable[None]) -> None:
    """Run the scenario of a test, with a time limit."""

    async def bounded() -> None:
        async with asyncio.timeout(4 * PATIENCE):
            await scenario

    asyncio.run(bounded())
