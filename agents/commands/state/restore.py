"""`state restore`: write a dump to a job that has no state.

    same cluster and prefix     rows ──▶ changelogs; committed offsets are set to those of the dump
    other cluster or prefix     rows ──▶ changelogs; waiting records are published again with their
                                first origin; groups begin at the oldest record

Markers of forgotten pages name offsets of one topic raw-html. On the same cluster and prefix the
present markers stay, and those of the dump are added. Elsewhere the markers are not written;
instead, waiting pages that they cover are left out.

Rules are written if `rules` contains none. Removals and purges name offsets of one topic, as
markers do: elsewhere they are not written, and waiting pages that they cover are left out.

Each record is written to the partition that its domain or site has with the present number of
partitions. All records of a domain are in one partition of the dump, so their order is kept.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import aclosing
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from agents.commands.state.dump import FOLLOWERS, RULES, SOURCES, WHOLE, cluster_of
from agents.commands.state.file import DumpHeader, DumpReader, DumpRecord
from agents.commands.state.forgotten import without_forgotten
from agents.commands.state.removed import without_removed
from agents.commands.terminal import show_all
from agents.commands.topics import check_topics
from agents.forgetting import TABLES, changelog
from agents.kafka.client import consumer, full_ranges, partitions, producer
from agents.kafka.groups import count_workers, rewind
from agents.kafka.partitions import partition_of
from agents.kafka.tables.live_keys import live_keys
from agents.settings.feeds import MIB
from agents.settings.job import Settings, SettingsError
from agents.settings.topics_file import declared_topics
from models.crawl import feed as feeds
from models.headers.names import ORIGIN, header
from models.headers.signature import HeaderKeys, SignedRecord
from models.origin import Origin
from urltree.page import PageError

_IN_FLIGHT = 1_000  # largest number of records that Kafka has not confirmed yet
_IN_FLIGHT_BYTES = 16 * MIB  # largest size of the values of unconfirmed records
_REMEMBERED = ("raw-html", "fetches")  # topics whose waiting records keep their first origin


class Restored(NamedTuple):
    """Result of a restore.

    Attributes:
        records: Number of written records, by topic without prefix.
        is_back: Whether the committed offsets were set to those of the dump.
        gone: Number of records after the offsets of the dump that retention has removed, by topic.
    """

    records: dict[str, int]
    is_back: bool
    gone: dict[str, int]


async def restore(
    settings: Settings, file: DumpReader, stages: Collection[str], *, repartition: bool
) -> Restored:
    """Check a whole dump, then write its records that belong to these stages.

    Raises:
        SettingsError: Topics differ, workers run, tables contain rows, or the file is damaged.
    """
    made = file.header
    is_back = (made.cluster, made.prefix) == (await cluster_of(settings), settings.prefix)
    count = await _check_topics(settings, made, repartition=repartition)
    await _check_idle(settings, stages)
    markers = {changelog(stage) for stage in stages if stage in TABLES}
    tables = _changelogs(settings, stages) - markers
    wanted = tables | {topic for stage in stages for topic in SOURCES[stage] if not is_back}
    await _check_empty(settings, tables | (wanted & {WHOLE}))
    rules = {RULES} if await _may_write_rules(settings, stages) else set()
    # Read the whole file before the first row is written: a damaged file raises an error here.
    total = sum(1 for _ in show_all(file, "checking the dump"))
    stored = show_all(file, "restoring", total)
    if is_back:
        present = await _live_keys(settings, markers)
        added = (s for s in stored if (s.topic, s.key) not in present)
        records = (s for s in added if s.topic in wanted | markers | rules)
    else:
        kept = without_removed(made.prefix, without_forgotten(settings, made.prefix, stored))
        records = (s for s in kept if s.topic in wanted | rules)
    counts = await _write(settings, _place(made, count, records))
    gone = await _rewind(settings, made, stages) if is_back else {}
    return Restored(dict(counts), is_back, gone)


async def _check_topics(settings: Settings, made: DumpHeader, *, repartition: bool) -> int:
    problems = await check_topics(settings)
    if problems:
        raise SettingsError(f"{problems[0]}; run `python -m agents topics apply` first")
    count = declared_topics(settings)[0].partitions
    if count != made.partitions and not repartition:
        raise SettingsError(
            f"the dump has {made.partitions} partitions, but the topics have {count}; pass "
            "--repartition to move each row to the new partition of its domain "
            "(docs/operations.md, Repartition)"
        )
    return count


async def _check_idle(settings: Settings, stages: Collection[str]) -> None:
    for stage in stages:
        if running := await count_workers(settings, stage):
            raise SettingsError(
                f"{stage} has {running} running worker(s): stop them, and wait for longer than "
                f"their session_seconds ({settings.session_seconds:g})"
            )


async def _check_empty(settings: Settings, topics: Collection[str]) -> None:
    """Refuse to restore if a topic contains a live row."""
    async with consumer(settings) as client:
        places = await _places(settings, client, topics)
        async with aclosing(live_keys(client, places)) as live:
            async for place, _ in live:
                raise SettingsError(
                    f"{place.topic} contains rows, but a dump is restored only to a job without "
                    "state; run `python -m agents reset` for the stage first, or use another prefix"
                )


async def _may_write_rules(settings: Settings, stages: Collection[str]) -> bool:
    """Return whether the rules of the dump are written: there is none that they could contradict.

    An operator may have removed a deny rule since the dump, and it must not come back.
    """
    if not set(stages) & set(FOLLOWERS):
        return False
    return not await _live_keys(settings, {RULES})


async def _live_keys(settings: Settings, topics: Collection[str]) -> set[tuple[str, bytes | None]]:
    """Return the live keys of these topics, with the topic's name without prefix."""
    async with consumer(settings) as client:
        places = await _places(settings, client, topics)
        return {
            (place.topic.removeprefix(settings.prefix), key)
            async for place, key in live_keys(client, places)
        }


async def _places(
    settings: Settings, client: AIOKafkaConsumer, topics: Collection[str]
) -> list[Any]:
    return [p for topic in sorted(topics) for p in await partitions(client, settings.topic(topic))]


def _changelogs(settings: Settings, stages: Collection[str]) -> set[str]:
    names = {t.name.removeprefix(settings.prefix) for t in declared_topics(settings)}
    return {n for n in names for stage in stages if n.startswith(f"urltree-{stage}-")}


def _place(made: DumpHeader, count: int, records: Iterator[DumpRecord]) -> Iterator[DumpRecord]:
    """Yield the records as they will be written: with new partitions and first origins."""
    for stored in records:
        headers = stored.headers
        if stored.topic in _REMEMBERED and header(headers, ORIGIN) is None:
            topic = made.prefix + stored.topic
            origin = Origin(topic, stored.partition, stored.offset)
            headers = (*headers, (ORIGIN, str(origin).encode()))
        belongs = _owner_of(stored)
        partition = stored.partition % count if belongs is None else partition_of(belongs, count)
        yield stored._replace(headers=headers, partition=partition)


def _owner_of(stored: DumpRecord) -> bytes | None:
    """Return the part of a record's key that decides its partition; None if there is no key."""
    key = stored.key
    if key is None:
        return None
    if stored.topic == RULES:
        return key
    if stored.topic == WHOLE:
        try:
            return feeds.split_key(key)[0].encode()
        except PageError:
            return key
    return key.partition(b"\0")[0]


async def _write(settings: Settings, records: Iterator[DumpRecord]) -> Counter[str]:
    counts = Counter[str]()
    # Records of other producers may be as large as the topic allows, which is above our own limit.
    roomy = settings.model_copy(update={"max_record_bytes": settings.max_record_bytes + MIB})
    keys = settings.header_keys
    async with producer(roomy) as out:
        waiting, size = [], 0
        for stored in records:
            waiting.append(await _send(settings, keys, out, stored))
            counts[stored.topic] += 1
            size += len(stored.value or b"")
            if len(waiting) == _IN_FLIGHT or size > _IN_FLIGHT_BYTES:
                await asyncio.gather(*waiting)
                waiting, size = [], 0
        await asyncio.gather(*waiting)
    return counts


async def _send(
    settings: Settings, keys: HeaderKeys, out: AIOKafkaProducer, stored: DumpRecord
) -> asyncio.Future[Any]:
    key, value, topic = stored.key, stored.value, settings.topic(stored.topic)
    if key is None and value is None:
        key = b""  # aiokafka refuses a record without key and value
    sent: asyncio.Future[Any] = await out.send(
        topic,
        value,
        key,
        stored.partition,
        timestamp_ms=stored.timestamp if stored.timestamp >= 0 else None,
        headers=keys.sign(SignedRecord(topic, key, value, stored.headers)),
    )
    return sent


async def _rewind(settings: Settings, made: DumpHeader, stages: Collection[str]) -> dict[str, int]:
    """Set the committed offsets to those of the dump.

    If an offset no longer exists in the topic, the oldest record of the partition is used.
    """
    gone = Counter[str]()
    for stage in stages:
        for topic in SOURCES[stage]:
            offsets = made.committed[stage][topic]
            async with consumer(settings) as client:
                there = await full_ranges(client, await partitions(client, settings.topic(topic)))
            to = {}
            for place, (first, end) in there.items():
                stood = offsets.get(str(place.partition), 0)
                to[place] = stood if first <= stood <= end else first
                gone[topic] += max(0, first - stood) if topic != WHOLE else 0
            await rewind(settings, stage, to)
    return {topic: count for topic, count in gone.items() if count}
