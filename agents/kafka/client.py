"""Kafka as the operators' commands see it: an admin, a producer, and reading a topic once through.

The workers' own way to Kafka is Faust's; what both share is `options`, how brokers are reached.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaConnectionError, KafkaError

from agents.kafka.header_names import tolerate_any_header_name
from agents.kafka.refusal import refusal
from agents.kafka.tokens import Tokens
from agents.settings.job import Settings, SettingsError

FETCH_BYTES = 4 * 1024 * 1024  # a partition; Kafka sends a larger record all the same

# A range of offsets for each partition: the first, and the one behind the last.
Ranges = Mapping[TopicPartition, tuple[int, int]]


def options(settings: Settings) -> dict[str, Any]:
    """How brokers are reached, as aiokafka's arguments."""
    reach: dict[str, Any] = {
        "bootstrap_servers": list(settings.brokers),
        "security_protocol": settings.security,
        "client_id": "urltree",
    }
    if settings.security.endswith("SSL"):
        reach["ssl_context"] = ssl_context(settings)
    if settings.security.startswith("SASL"):
        reach["sasl_mechanism"] = settings.sasl_mechanism
    if settings.security.startswith("SASL") and settings.sasl_mechanism == "OAUTHBEARER":
        reach["sasl_oauth_token_provider"] = tokens(settings)
    elif settings.security.startswith("SASL"):
        reach["sasl_plain_username"] = settings.sasl_username
        reach["sasl_plain_password"] = settings.password
    return reach


@asynccontextmanager
async def admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client.

    Raises:
        NoKafkaError: no broker answers.
        SettingsError: none takes the login, or its certificate is not trusted.
    """
    async with _started(AIOKafkaAdminClient(**options(settings)), settings) as client:
        yield client


@asynccontextmanager
async def producer(settings: Settings) -> AsyncIterator[AIOKafkaProducer]:
    """A producer whose sends are confirmed by every replica.

    Raises:
        NoKafkaError: no broker answers.
        SettingsError: none takes the login, or its certificate is not trusted.
    """
    client = AIOKafkaProducer(
        **options(settings),
        acks="all",
        enable_idempotence=True,
        max_request_size=settings.max_record_bytes,
    )
    async with _started(client, settings):
        yield client


@asynccontextmanager
async def consumer(settings: Settings, **changes: Any) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer without a group, which reads what it is assigned.

    Raises:
        NoKafkaError: no broker answers.
        SettingsError: none takes the login, or its certificate is not trusted.
    """
    tolerate_any_header_name()
    client = AIOKafkaConsumer(
        **options(settings),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=FETCH_BYTES,
        **changes,
    )
    async with _started(client, settings):
        yield client


async def partitions(client: AIOKafkaConsumer, topic: str) -> list[TopicPartition]:
    """The partitions of a topic in order.

    Raises:
        SettingsError: there is no such topic.
    """
    known = client.partitions_for_topic(topic)
    if not known:
        # all topics: asked by name, a broker with auto.create.topics.enable would make it
        if topic not in await client.topics():
            raise SettingsError(f"there is no topic {topic}: `topics apply` makes it")
        await client._client.add_topic(topic)  # noqa: SLF001 - `topics()` remembers none
        known = client.partitions_for_topic(topic)
    return [TopicPartition(topic, partition) for partition in sorted(known)]


async def full_ranges(client: AIOKafkaConsumer, assigned: Iterable[TopicPartition]) -> Ranges:
    """Everything that these partitions hold now."""
    assigned = list(assigned)
    first = await client.beginning_offsets(assigned)
    last = await client.end_offsets(assigned)
    return {partition: (first[partition], last[partition]) for partition in assigned}


async def read_records(client: AIOKafkaConsumer, ranges: Ranges) -> AsyncIterator[ConsumerRecord]:
    """The records of these ranges, each partition in its order; memory is bounded by a fetch."""
    left = {partition: end for partition, (start, end) in ranges.items() if start < end}
    client.assign(list(left))
    for partition in left:
        client.seek(partition, ranges[partition][0])
    while left:
        batches = await client.getmany(*left, timeout_ms=500)
        for partition, records in batches.items():
            for record in records:
                if record.offset < left[partition]:
                    yield record
        # the position, not the last record: compaction may have taken that away
        done = [p for p, end in left.items() if await client.position(p) >= end]
        for partition in done:
            del left[partition]
            client.pause(partition)


@asynccontextmanager
async def _started(client: Any, settings: Settings) -> AsyncIterator[Any]:
    stop = getattr(client, "stop", None) or client.close
    try:
        await client.start()
    except (KafkaConnectionError, OSError):
        await stop()
        raise await refusal(options(settings)) from None
    except KafkaError:
        await stop()
        raise
    try:
        yield client
    finally:
        await stop()


def ssl_context(settings: Settings) -> ssl.SSLContext:
    """For TLS to the brokers.

    Raises:
        SettingsError: a file is missing or no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca_file)
        if settings.ssl_cert_file is not None:
            # without a password OpenSSL would ask for one, where a terminal is
            context.load_cert_chain(settings.ssl_cert_file, settings.ssl_key_file, password="")
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(f"ssl_ca_file, ssl_cert_file, ssl_key_file: {error}") from None
    return context


def tokens(settings: Settings) -> Tokens:
    """For OAUTHBEARER.

    Raises:
        SettingsError: `oauth_ca_file` is missing or no certificate.
    """
    try:
        return Tokens(settings)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(f"oauth_ca_file: {error}") from None
