"""`state dump`: write the state of all stages and their waiting records, while the stages run.

    committed offsets ──▶ changelogs, twice ──▶ rules ──▶ records after the committed offsets

In this order the dumped rows are never behind the dumped offsets. They may be ahead, as after a
crash: a page after the committed offset whose row exists already is processed as a replay. The
changelogs are read a second time, up to their new ends, because compaction may remove a row before
the first reading reaches it. Compaction removes a row only if a later row with the same key exists.

`state restore` signs the headers of waiting records again. So a dump contains no `urltree-` headers
that the job has not signed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from importlib.metadata import version
from typing import Any, BinaryIO

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from agents.commands.state.file import Committed, DumpHeader, DumpRecord, DumpWriter
from agents.commands.terminal import show
from agents.kafka.client import (
    Ranges,
    admin,
    consumer,
    full_ranges,
    offsets,
    partitions,
    read_records,
    refuse_open_transactions,
    trusted_headers,
)
from agents.kafka.groups import committed_offsets
from agents.settings.job import Settings
from agents.settings.topics_file import declared_topics
from models.headers.signature import SIGNED_TOPICS, HeaderKeys

# Topics that each stage reads. `feeds` is compacted and contains the followed feeds, so all of it
# is dumped. So is `rules`, which no group reads.
SOURCES: Mapping[str, tuple[str, ...]] = {
    "poll": ("feeds", "poll-outcomes"),
    "fetch": ("fetches", "requests"),
    "normalize": ("raw-html",),
    "extract": ("documents",),
}
WHOLE = "feeds"
RULES = "rules"
FOLLOWERS = ("poll", "fetch")  # stages that follow the rules


async def dump(settings: Settings, out: BinaryIO) -> Counter[str]:
    """Write the state of all stages, and return the number of records by topic.

    Raises:
        SettingsError: A topic does not exist, or an open transaction hides rows.
    """
    header = await _header(settings)
    writer, counts, keys = DumpWriter(out, header), Counter[str](), settings.header_keys
    async with consumer(settings) as client:
        for records in (_rows(settings, client), _waiting(settings, client, header.committed)):
            async for record in records:
                stored = _dump_record(settings, record, keys)
                writer.add(stored)
                counts[stored.topic] += 1
    writer.end()
    return counts


async def cluster_of(settings: Settings) -> str:
    """Return Kafka's id of the cluster."""
    async with admin(settings) as client:
        return str((await client.describe_cluster())["cluster_id"])


async def _header(settings: Settings) -> DumpHeader:
    done: Committed = {}
    for stage, topics in SOURCES.items():
        for topic in topics:
            found = await committed_offsets(settings, stage, topic)
            done.setdefault(stage, {})[topic] = {str(p): at for p, at in found.items() if at >= 0}
    partitions = declared_topics(settings)[0].partitions
    cluster = await cluster_of(settings)
    return DumpHeader(version("urltree"), time.time(), cluster, settings.prefix, partitions, done)


async def _rows(settings: Settings, client: AIOKafkaConsumer) -> AsyncIterator[ConsumerRecord]:
    names = [topic.name for topic in declared_topics(settings) if topic.role == "changelog"]
    places = [place for name in names for place in await partitions(client, name)]
    await refuse_open_transactions(client, places)
    ranges = await full_ranges(client, places)
    async for record in _shown(client, ranges, "tables"):
        yield record
    ends = await client.end_offsets(places)
    new = {place: (ranges[place][1], ends[place]) for place in places}
    async for record in _shown(client, new, "tables, new rows"):
        yield record


async def _waiting(
    settings: Settings, client: AIOKafkaConsumer, done: Committed
) -> AsyncIterator[ConsumerRecord]:
    rules = await partitions(client, settings.topic(RULES))
    await refuse_open_transactions(client, rules)
    async for record in _shown(client, await full_ranges(client, rules), "rules"):
        yield record
    ranges: dict[Any, tuple[int, int]] = {}
    for stage, topics in SOURCES.items():
        for topic in topics:
            places = await partitions(client, settings.topic(topic))
            begin = {} if topic == WHOLE else done[stage][topic]
            for place, (first, end) in (await full_ranges(client, places)).items():
                ranges[place] = (max(first, begin.get(str(place.partition), 0)), end)
    async for record in _shown(client, ranges, "waiting records"):
        yield record


def _shown(client: AIOKafkaConsumer, ranges: Ranges, what: str) -> AsyncIterator[ConsumerRecord]:
    return show(read_records(client, ranges), f"reading {what}", offsets(ranges))


def _dump_record(settings: Settings, record: ConsumerRecord, keys: HeaderKeys) -> DumpRecord:
    topic = record.topic.removeprefix(settings.prefix)
    headers = trusted_headers(keys, record) if topic in SIGNED_TOPICS else record.headers
    return DumpRecord(
        topic,
        record.partition,
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        tuple(headers),
    )
