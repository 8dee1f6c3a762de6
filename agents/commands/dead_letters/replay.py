"""Replay of dead letters: send each original record to the topic from which its stage read it.

The record is sent unchanged except for our own headers. Its origin header contains its first
origin. The header of the arrival time is removed, because the days until the replay do not count
as latency; the header of a re-keying is removed, too. A page of the topic fetches is fetched again
from its first URL, and all its attempts are allowed again.

The record is signed again. So headers that the job had not signed are removed before: otherwise a
replay would turn a forged command into a valid one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import click
from aiokafka import AIOKafkaProducer, ConsumerRecord

from agents.commands.dead_letters.search import DeadLetterSummary, read_dead_letters
from agents.kafka.client import consumer, producer, written_at
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models.crawl import feed as feeds
from models.crawl import fetch as fetches
from models.dead_letter import DeadLetter, Record
from models.headers import names
from models.headers.signature import HeaderKeys, SignedRecord
from urltree.page import PageError, Reason

# Topics that stages read, and to which a replay may write.
_TOPICS = ("raw-html", "documents", "fetches", "requests", "feeds", "poll-outcomes")


async def replay(settings: Settings, found: Sequence[DeadLetterSummary], rate: float) -> int:
    """Send the original records to the topics from which they were read.

    Args:
        settings: Settings of the job.
        found: The dead letters to replay.
        rate: Number of records per second.

    Returns:
        The number of records that were sent. Dead letters without their record are named on the
        standard error output.
    """
    inputs = [settings.topic(name) for name in _TOPICS]
    places = {(letter.partition, letter.offset) for letter in found}
    schemes, keys = Schemes(settings), settings.header_keys
    sent = 0
    async with consumer(settings) as client, producer(settings) as out:
        async for record, letter in read_dead_letters(settings, client, [f.origin for f in found]):
            if (record.partition, record.offset) not in places or letter.topic not in inputs:
                continue
            refusal = _refusal(letter)
            if refusal is not None:
                click.echo(f"{letter.origin} was not replayed: {refusal}", err=True)
            else:
                genuine = _without_forged(keys, record, letter)
                await _send(keys, out, letter, *_prepare(settings, schemes, genuine))
                sent += 1
                await asyncio.sleep(1 / rate)
    return sent


def _refusal(letter: DeadLetter) -> str | None:
    """Return why there is nothing to send, or None if the dead letter has its record."""
    if letter.offsets is not None:
        first, last = letter.offsets
        return (
            f"the dead letter stands for the offsets {first} to {last}, which could not be read; "
            "publish these records again"
        )
    if letter.reason == Reason.TOO_LARGE and letter.original.value is None:
        return "the value was too large to be kept; publish the record again"
    return None


def _without_forged(keys: HeaderKeys, record: ConsumerRecord, letter: DeadLetter) -> DeadLetter:
    """Return a dead letter without the headers of its original that do not count.

    The original was written before the dead letter.
    """
    original = letter.original
    written = written_at(record.timestamp_type, record.timestamp / 1000)
    headers = keys.trusted(SignedRecord(letter.topic, *original), written)
    return replace(letter, original=original._replace(headers=tuple(headers)))


async def _send(
    keys: HeaderKeys, out: AIOKafkaProducer, letter: DeadLetter, sent: Record, place: bytes
) -> None:
    key, value, original = sent
    if key is None and value is None:
        key = b""  # aiokafka refuses a record without key and value
    ours = (names.ORIGIN, names.REKEYED, names.ARRIVED)
    kept = [(name, content) for name, content in original if name not in ours]
    headers = [*kept, (names.ORIGIN, letter.origin.encode())]
    count = len(await out.partitions_for(letter.topic))
    await out.send_and_wait(
        *(letter.topic, value, key, partition_of(place, count)),
        headers=keys.sign(SignedRecord(letter.topic, key, value, headers)),
    )


def _prepare(settings: Settings, schemes: Schemes, letter: DeadLetter) -> tuple[Record, bytes]:
    """Return the record to send and the key that decides its partition.

    A record that cannot be decoded is sent unchanged.
    """
    original = letter.original
    try:
        if letter.topic == settings.topic("fetches"):
            fetch = fetches.decode(original.value)
            key = schemes.domain(fetch.url).encode()
            fetch = replace(
                fetch,
                redirects=(),
                attempt=0,
                refusals=0,
                not_before=0.0,
                held_since=None,
                trouble=None,
            )
            return Record(key, fetches.encode(fetch), original.headers), key
        if letter.topic == settings.topic("feeds"):
            return original, feeds.split_key(original.key)[0].encode()
    except PageError:
        pass
    return original, letter.origin.encode() if original.key is None else original.key
