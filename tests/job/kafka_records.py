"""Publish and read records of a test's topics, and read committed offsets."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from typing import NamedTuple, TypeVar
from zlib import crc32

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.partitioner import murmur2
from aiokafka.protocol.group import LeaveGroupRequest

from agents.kafka import groups
from agents.kafka.client import admin, consumer, full_ranges, options, partitions, read_records
from agents.settings.job import Settings
from models import raw_html
from urltree.address.url_key import KeyScheme
from urltree.page import Page, PageError

PARTITIONS = 6
MAX_RECORD = 32 * 1024 * 1024  # largest record that the tests' clients send or read, in bytes

_DELIVERY_MS = 300_000  # milliseconds; long, because a killed broker may restart late
_TRIES = 60  # number of attempts to connect, half a second apart

Headers = tuple[tuple[str, bytes | None], ...]
Result = TypeVar("Result")

_SCHEME = KeyScheme()


class Sent(NamedTuple):
    """A record to publish."""

    key: bytes | None
    value: bytes | None
    partition: int
    headers: Headers = ()


class Read(NamedTuple):
    """A record that was read; `time` is the timestamp from the producer, in seconds since 1970."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    time: float


def run(work: Coroutine[object, object, Result]) -> Result:
    """Run a coroutine to its end, and return its result."""
    return asyncio.run(work)


def partition_of(key: bytes) -> int:
    """Return the partition of a key by Java's default partitioner, which our producers use, too."""
    return int((murmur2(key) & 0x7FFFFFFF) % PARTITIONS)


def domain_of(page: Page) -> bytes:
    """Return the domain of a page, which is its key, or a placeholder if it has no valid URL."""
    try:
        return _SCHEME.domain(page.final_url or "").encode()
    except PageError:
        return b"nowhere"


def keyed(page: Page) -> Sent:
    """Return a record of a page with the right key, in the right partition."""
    key = domain_of(page)
    return Sent(key, raw_html.encode(page), partition_of(key))


def keyed_by_crc32(page: Page) -> Sent:
    """Return a record of a page with the right key, in the partition that librdkafka chooses."""
    key = domain_of(page)
    return Sent(key, raw_html.encode(page), crc32(key) % PARTITIONS)


def unkeyed(page: Page, partition: int = 0) -> Sent:
    """Return a record of a page without a key."""
    return Sent(None, raw_html.encode(page), partition)


async def publish(settings: Settings, topic: str, records: Iterable[Sent]) -> list[str]:
    """Publish records in order, and return their origins."""
    producer = await _producer(settings)
    try:
        waiting = [
            await producer.send(
                settings.topic(topic),
                sent.value,
                key=sent.key,
                partition=sent.partition,
                headers=list(sent.headers),
            )
            for sent in records
        ]
        stored = [await future for future in waiting]
    finally:
        await producer.stop()
    return [f"{one.topic}/{one.partition}/{one.offset}" for one in stored]


async def _producer(settings: Settings) -> AIOKafkaProducer:
    """Return a producer as soon as a broker answers, because some tests kill the broker."""
    for tries_left in range(_TRIES, -1, -1):
        producer = AIOKafkaProducer(
            **options(settings),
            acks="all",
            enable_idempotence=True,
            max_request_size=MAX_RECORD,
            request_timeout_ms=_DELIVERY_MS,
        )
        try:
            await producer.start()
        except KafkaError:
            await producer.stop()
            if not tries_left:
                raise
            await asyncio.sleep(0.5)
        else:
            return producer
    raise AssertionError


async def read_all(settings: Settings, topic: str) -> list[Read]:
    """Return all records of a topic; the records of each partition are in order."""
    async with consumer(settings) as client:
        ranges = await full_ranges(client, await partitions(client, settings.topic(topic)))
        return [
            Read(
                *(one.partition, one.offset, one.key, one.value, tuple(one.headers)),
                time=one.timestamp / 1_000,
            )
            async for one in read_records(client, ranges)
        ]


async def ends(settings: Settings, topic: str) -> Mapping[int, int]:
    """Return the offset after the last record of each partition."""
    async with consumer(settings) as client:
        of = await client.end_offsets(await partitions(client, settings.topic(topic)))
    return {tp.partition: offset for tp, offset in of.items()}


async def committed(settings: Settings, stage: str, topic: str) -> Mapping[int, int]:
    """Return the committed offset of each partition, 0 if there is none."""
    found = await groups.committed_offsets(settings, stage, topic)
    return {partition: max(found.get(partition, 0), 0) for partition in range(PARTITIONS)}


async def members(settings: Settings, stage: str) -> frozenset[str]:
    """Return the member ids of a stage's workers; the set is empty while the group rebalances."""
    async with admin(settings) as client:
        (answer,) = await client.describe_consumer_groups([settings.topic(f"urltree-{stage}")])
    (group,) = answer.to_object()["groups"]
    return frozenset(one["member_id"] for one in group["members"] if group["state"] == "Stable")


async def remove_members(settings: Settings, stage: str) -> None:
    """Remove all members from the group of a stage whose workers are dead.

    Without this call, the group's coordinator would remove them only when their sessions end.
    """
    group = settings.topic(f"urltree-{stage}")
    async with admin(settings) as client:
        coordinator = await client.find_coordinator(group)
        (answer,) = await client.describe_consumer_groups([group])
        (found,) = answer.to_object()["groups"]
        for member in found["members"]:
            leave = LeaveGroupRequest(group, member["member_id"])
            await client._send_request(leave, coordinator)


def beginning(settings: Settings, topic: str) -> Mapping[TopicPartition, int]:
    """Return offset 0 for each partition of a topic."""
    return {TopicPartition(settings.topic(topic), number): 0 for number in range(PARTITIONS)}
