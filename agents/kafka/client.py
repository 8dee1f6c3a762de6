"""Kafka clients for the operator commands: admin, producer, and reading ranges of a topic.

Workers reach Kafka through Faust (`agents.kafka.transport`).
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from time import time
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError

from agents.kafka.batches.fetching import read_in_bounded_memory
from agents.kafka.batches.unread import UnreadRecord, offsets_of
from agents.kafka.offsets.answers import Admin, refuse_answers_with_errors
from agents.kafka.offsets.transactions import high_watermarks
from agents.kafka.refusal import find_refusal
from agents.kafka.tokens import Tokens
from agents.settings.job import Settings, SettingsError
from models.headers.names import Headers
from models.headers.signature import HeaderKeys

FETCH_BYTES = 4 * 1024 * 1024  # bytes per partition and fetch; Kafka still sends a larger record

_LOG_APPEND_TIME = 1  # timestamp type in Kafka's record format v2

# Range of offsets by partition: the first offset, and the offset after the last.
Ranges = Mapping[TopicPartition, tuple[int, int]]


def options(settings: Settings) -> dict[str, Any]:
    """Return the connection settings as keyword arguments for aiokafka's clients."""
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
async def admin(settings: Settings) -> AsyncIterator[Admin]:
    """Open an admin client.

    Raises:
        NoKafkaError: No broker can be reached.
        SettingsError: The brokers refuse the login, or their certificate is not trusted.
    """
    async with _start(Admin(**options(settings)), settings) as client:
        yield client


@asynccontextmanager
async def producer(settings: Settings) -> AsyncIterator[AIOKafkaProducer]:
    """Open a producer whose records are confirmed by all in-sync replicas.

    Raises:
        NoKafkaError: No broker can be reached.
        SettingsError: The brokers refuse the login, or their certificate is not trusted.
    """
    client = AIOKafkaProducer(
        **options(settings),
        acks="all",
        enable_idempotence=True,
        max_request_size=settings.max_record_bytes,
    )
    async with _start(client, settings):
        yield client


@asynccontextmanager
async def consumer(settings: Settings, **changes: Any) -> AsyncIterator[AIOKafkaConsumer]:
    """Open a consumer of committed records without a group; the caller assigns partitions to it.

    Raises:
        NoKafkaError: No broker can be reached.
        SettingsError: The brokers refuse the login, or their certificate is not trusted. Or the
            library of a codec is missing.
    """
    read_in_bounded_memory(settings)
    refuse_answers_with_errors()
    client = AIOKafkaConsumer(
        **options(settings),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        max_partition_fetch_bytes=FETCH_BYTES,
        **changes,
    )
    async with _start(client, settings):
        await asyncio.sleep(0)  # aiokafka cannot stop a consumer whose tasks have not begun
        yield client


async def partitions(client: AIOKafkaConsumer, topic: str) -> list[TopicPartition]:
    """Return the partitions of a topic in order.

    Raises:
        SettingsError: The topic does not exist.
    """
    known = client.partitions_for_topic(topic)
    if not known:
        # List all topics: with auto.create.topics.enable, a request by name would create the topic.
        if topic not in await client.topics():
            raise SettingsError(
                f"the topic {topic} does not exist; create it with `python -m agents topics apply`"
            )
        await client._client.add_topic(topic)  # noqa: SLF001 - `topics()` does not cache them
        known = client.partitions_for_topic(topic)
    return [TopicPartition(topic, partition) for partition in sorted(known)]


async def full_ranges(client: AIOKafkaConsumer, assigned: Iterable[TopicPartition]) -> Ranges:
    """Return the ranges of offsets that these partitions contain now.

    A range ends at the first record of an open transaction: nobody can read further yet.
    """
    assigned = list(assigned)
    first = await client.beginning_offsets(assigned)
    last = await client.end_offsets(assigned)
    return {partition: (first[partition], last[partition]) for partition in assigned}


def offsets(ranges: Ranges) -> int:
    """Return the number of offsets in these ranges; compaction may have removed records."""
    return sum(end - start for start, end in ranges.values())


async def refuse_open_transactions(
    client: AIOKafkaConsumer, assigned: Iterable[TopicPartition]
) -> None:
    """Refuse to read partitions of which an open transaction hides records.

    Raises:
        SettingsError: A partition has an open transaction.
    """
    assigned = list(assigned)
    stable = await client.end_offsets(assigned)
    for partition, end in (await high_watermarks(client, assigned)).items():
        if stable[partition] < end:
            raise SettingsError(
                f"an open transaction hides {end - stable[partition]} offsets of "
                f"{partition.topic}, partition {partition.partition}: repeat the command when the "
                "transaction has ended, or abort it with kafka-transactions.sh"
            )


async def read_records(
    client: AIOKafkaConsumer, ranges: Ranges, *, also_unread: bool = False
) -> AsyncIterator[ConsumerRecord]:
    """Yield the records of these ranges, in offset order within each partition.

    At most the records of one fetch are in memory at a time.

    Args:
        client: A consumer without a group.
        ranges: Ranges of offsets by partition.
        also_unread: Whether records that cannot be read are yielded, too, as `UnreadRecord`.

    Raises:
        SettingsError: A record cannot be read, and the caller needs all of them.
    """
    left = {partition: end for partition, (start, end) in ranges.items() if start < end}
    client.assign(list(left))
    for partition in left:
        client.seek(partition, ranges[partition][0])
    while left:
        batches = await client.getmany(*left, timeout_ms=500)
        for partition, records in batches.items():
            for record in records:
                if isinstance(record, UnreadRecord) and not also_unread:
                    raise SettingsError(record.describe())
                if offsets_of(record).start < left[partition]:
                    yield record
        # Compare the position and not the last record's offset: the range may end with offsets
        # that have no record, because of compaction, aborted records or markers of transactions.
        done = [p for p, end in left.items() if await client.position(p) >= end]
        for partition in done:
            del left[partition]
            client.pause(partition)


def trusted_headers(keys: HeaderKeys, record: ConsumerRecord) -> Headers:
    """Return the headers of a record without `urltree-` headers that the job has not signed."""
    return keys.trusted(record, written_at(record.timestamp_type, record.timestamp / 1000))


def written_at(timestamp_type: int, timestamp: float | None) -> float:
    """Return the time at which a record was written, in seconds since 1970.

    It is the record's timestamp only if the broker has set it. A producer could set any time, so
    for its timestamps the present time is returned.
    """
    if timestamp_type == _LOG_APPEND_TIME and timestamp is not None:
        return timestamp
    return time()


@asynccontextmanager
async def _start(client: Any, settings: Settings) -> AsyncIterator[Any]:
    stop = getattr(client, "stop", None) or client.close
    try:
        await client.start()
    except (KafkaConnectionError, OSError):
        await stop()
        raise await find_refusal(options(settings)) from None
    except KafkaError:
        await stop()
        raise
    try:
        yield client
    finally:
        await stop()


def ssl_context(settings: Settings) -> ssl.SSLContext:
    """Return the TLS context for connections to the brokers.

    Raises:
        SettingsError: A file is missing, or is not a valid certificate or key.
    """
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca_file)
        if settings.ssl_cert_file is not None:
            # Without this password, OpenSSL would prompt for one on a terminal.
            context.load_cert_chain(settings.ssl_cert_file, settings.ssl_key_file, password="")
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            "a certificate or key cannot be loaded, check ssl_ca_file, ssl_cert_file and "
            f"ssl_key_file: {error}"
        ) from None
    return context


def tokens(settings: Settings) -> Tokens:
    """Return the provider of tokens for the OAUTHBEARER login.

    Raises:
        SettingsError: `oauth_ca_file` is missing, or is not a valid certificate.
    """
    try:
        return Tokens(settings)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"a certificate cannot be loaded, check oauth_ca_file: {error}"
        ) from None
