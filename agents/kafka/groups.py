"""The consumer group of a stage: its committed offsets and its running members."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from aiokafka import TopicPartition
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from agents.kafka.client import admin, consumer
from agents.kafka.offsets.answers import Admin
from agents.settings.job import Settings, SettingsError

_PAUSE = 0.1  # seconds between two attempts
_PATIENCE = 30.0  # seconds to wait until the group has a coordinator
_NO_COORDINATOR = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)

T = TypeVar("T")


async def committed_offsets(settings: Settings, stage: str, topic: str) -> dict[int, int]:
    """Return the committed offsets of a stage for one of its topics, by partition.

    A partition is missing if its coordinator answers that nothing is committed.

    Raises:
        NoKafkaError: No broker can be reached.
    """
    group, name = settings.topic(f"urltree-{stage}"), settings.topic(topic)

    async def offsets(client: Admin) -> dict[TopicPartition, OffsetAndMetadata]:
        # Ask for this topic alone: the caller needs no right to the stage's other topics.
        (described,) = await client.describe_topics([name])
        places = [TopicPartition(name, one["partition"]) for one in described["partitions"]]
        found: dict[TopicPartition, OffsetAndMetadata] = await client.list_consumer_group_offsets(
            group, partitions=places
        )
        return found

    answer = await _ask(settings, offsets)
    return {at.partition: found.offset for at, found in answer.items() if found.offset >= 0}


async def count_workers(settings: Settings, stage: str) -> int:
    """Return the number of members of a stage's group.

    A worker that was killed remains a member until its session ends.

    Raises:
        NoKafkaError: No broker can be reached.
    """
    group = settings.topic(f"urltree-{stage}")
    answers = await _ask(settings, lambda client: client.describe_consumer_groups([group]))
    return sum(len(found["members"]) for one in answers for found in one.to_object()["groups"])


async def rewind(settings: Settings, stage: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Set the committed offsets of a stage whose workers are stopped.

    Raises:
        SettingsError: A worker of the stage is running.
    """
    group = settings.topic(f"urltree-{stage}")
    async with consumer(settings, group_id=group) as client:
        client.assign(list(offsets))
        try:
            await client.commit({at: OffsetAndMetadata(to, "") for at, to in offsets.items()})
        except KafkaError as error:
            raise SettingsError(
                f"a worker of {stage} was started in the meantime; stop it and repeat the command "
                f"({error})"
            ) from None


async def _ask(settings: Settings, ask: Callable[[Admin], Awaitable[T]]) -> T:
    """Call `ask` until the group has a coordinator.

    A Kafka cluster that never had a consumer group creates its topic of offsets at the first
    request, so a coordinator is available only some time later.
    """
    async with admin(settings) as client:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return await ask(client)
            except _NO_COORDINATOR:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_PAUSE)
