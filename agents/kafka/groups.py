"""A stage's consumer group as Kafka knows it: what it has committed, and who runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from agents.kafka.client import admin, consumer
from agents.settings.job import Settings, SettingsError

_PAUSE = 0.1  # seconds between two questions
_PATIENCE = 30.0  # seconds
_NO_COORDINATOR = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)

T = TypeVar("T")


async def committed(settings: Settings, stage: str, topic: str) -> dict[int, int]:
    """Up to where a stage is done with a topic that it reads, by partition.

    Raises:
        NoKafkaError: no broker answers.
    """
    group, name = settings.topic(f"urltree-{stage}"), settings.topic(topic)
    offsets = await _ask(settings, lambda client: client.list_consumer_group_offsets(group))
    return {at.partition: found.offset for at, found in offsets.items() if at.topic == name}


async def workers(settings: Settings, stage: str) -> int:
    """Members of a stage's group; one that was killed counts until its session ends.

    Raises:
        NoKafkaError: no broker answers.
    """
    group = settings.topic(f"urltree-{stage}")
    answers = await _ask(settings, lambda client: client.describe_consumer_groups([group]))
    return sum(len(found["members"]) for one in answers for found in one.to_object()["groups"])


async def rewind(settings: Settings, stage: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Let a stage whose workers are stopped begin at these offsets.

    Raises:
        SettingsError: one of its workers runs.
    """
    group = settings.topic(f"urltree-{stage}")
    async with consumer(settings, group_id=group) as client:
        client.assign(list(offsets))
        try:
            await client.commit({at: OffsetAndMetadata(to, "") for at, to in offsets.items()})
        except KafkaError as error:
            raise SettingsError(
                f"a worker of {stage} was started meanwhile: stop it, begin again: {error}"
            ) from None


async def _ask(settings: Settings, ask: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
    """A Kafka that never had a group makes its topic of offsets at the first question."""
    async with admin(settings) as client:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return await ask(client)
            except _NO_COORDINATOR:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_PAUSE)
