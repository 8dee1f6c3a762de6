"""Read the new records of topics while the job runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from aiokafka import ConsumerRecord

from agents.kafka.client import consumer, partitions
from agents.settings.job import Settings

Take = Callable[[str, ConsumerRecord], None]
"""Function that takes the name of a topic, without prefix, and a record of the topic."""


@asynccontextmanager
async def following(settings: Settings, topics: Iterable[str], take: Take) -> AsyncIterator[None]:
    """Pass each new record to `take` until the context ends."""
    started = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(_follow(settings, topics, take, started))
        await started.wait()
        yield
        reading.cancel()


async def _follow(
    settings: Settings, topics: Iterable[str], take: Take, started: asyncio.Event
) -> None:
    names = {settings.topic(topic): topic for topic in topics}
    async with consumer(settings) as client:
        assigned = [p for name in names for p in await partitions(client, name)]
        client.assign(assigned)
        await client.seek_to_end(*assigned)
        started.set()
        while True:
            for records in (await client.getmany(timeout_ms=500)).values():
                for record in records:
                    take(names[record.topic], record)
                await asyncio.sleep(0)
