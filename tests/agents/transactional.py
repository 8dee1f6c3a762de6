"""A producer with transactions, for tests of readers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaProducer

from agents.kafka.client import options
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from tests.agents.records import PARTITIONS, Sent


@asynccontextmanager
async def transactional(settings: Settings, name: str = "p") -> AsyncIterator[AIOKafkaProducer]:
    """Open a producer with transactions; its transactional id begins with the test's prefix."""
    out = AIOKafkaProducer(**options(settings), transactional_id=f"{settings.prefix}{name}")
    await out.start()
    try:
        yield out
    finally:
        await out.stop()


async def send(out: AIOKafkaProducer, settings: Settings, records: Sequence[Sent]) -> None:
    """Send records within the open transaction of a producer, and wait until Kafka has them."""
    for topic, key, value, headers, partition in records:
        if partition is None:
            partition = partition_of(key or b"", PARTITIONS)  # noqa: PLW2901
        name = settings.topic(topic)
        await out.send_and_wait(name, value, key, partition, headers=list(headers))
