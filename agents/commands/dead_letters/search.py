"""Search in the dead letters: find the last dead letter of each origin, if it matches a filter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import click
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.kafka.client import consumer, full_ranges, partitions, read_records
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import raw_html
from models.dead_letter import DeadLetter
from urltree.page import PageError


@dataclass(frozen=True, slots=True)
class Filter:
    """Filter of dead letters. A field that is None or empty matches every dead letter."""

    origins: tuple[str, ...] = ()
    reason: str | None = None
    stage: str | None = None
    domain: str | None = None

    def matches(self, letter: DeadLetter, schemes: Schemes) -> bool:
        """Return whether a dead letter matches all fields."""
        return (
            (not self.origins or letter.origin in self.origins)
            and self.reason in (None, letter.reason)
            and self.stage in (None, letter.stage)
            and (self.domain is None or self.domain == _domain(letter, schemes))
        )


class DeadLetterSummary(NamedTuple):
    """Dead letter without its original record, and its place in the topic dead-letters.

    `offsets` are the first and last offset if it stands for a range of records.
    """

    origin: str
    stage: str
    reason: str
    message: str
    time: str
    partition: int
    offset: int
    offsets: tuple[int, int] | None


async def find_dead_letters(settings: Settings, wanted: Filter) -> list[DeadLetterSummary]:
    """Return the last dead letter of each origin if it matches, oldest first."""
    schemes = Schemes(settings)
    last: dict[str, DeadLetterSummary | None] = {}
    async with consumer(settings) as client:
        async for record, letter in read_dead_letters(settings, client, wanted.origins):
            time = datetime.fromtimestamp(record.timestamp / 1_000, UTC).isoformat(
                "T", "milliseconds"
            )
            found = DeadLetterSummary(
                *(letter.origin, letter.stage, letter.reason, letter.message, time),
                *(record.partition, record.offset, letter.offsets),
            )
            last[letter.origin] = found if wanted.matches(letter, schemes) else None
    return sorted((f for f in last.values() if f is not None), key=lambda found: found.time)


async def find_last(settings: Settings, origin: str) -> DeadLetter | None:
    """Return the last dead letter of an origin, or None if there is none."""
    found = None
    async with consumer(settings) as client:
        async for _, letter in read_dead_letters(settings, client, [origin]):
            found = letter if letter.origin == origin else found
    return found


async def read_dead_letters(
    settings: Settings, client: AIOKafkaConsumer, origins: Sequence[str] = ()
) -> AsyncIterator[tuple[ConsumerRecord, DeadLetter]]:
    """Yield all dead letters, or those in the partitions of the given origins."""
    assigned = await partitions(client, settings.topic("dead-letters"))
    if origins:
        count = len(assigned)
        of = {partition_of(origin.encode(), count) for origin in origins}
        assigned = [TopicPartition(assigned[0].topic, partition) for partition in sorted(of)]
    async for record in read_records(client, await full_ranges(client, assigned), also_unread=True):
        try:
            yield record, DeadLetter.from_record(record.key, record.value, record.headers)
        except PageError as error:
            place = f"dead-letters/{record.partition}/{record.offset}"
            click.echo(f"{place} is not a valid dead letter, skipped: {error}", err=True)


def _domain(letter: DeadLetter, schemes: Schemes) -> str:
    """Return the domain of a dead letter's page, or the site of its feed.

    The key of the record contains the domain or site. Only a page of raw-html may have another
    key. If such a page is invalid, so that it has no domain, the key is returned.
    """
    key = (letter.original.key or b"").decode(errors="replace").partition(" ")[0]
    if letter.stage != "normalize":
        return key
    try:
        page = raw_html.decode(letter.original.value, letter.original.headers)
        return schemes.of(page)[0].domain(page.final_url or "")
    except PageError:
        return key
