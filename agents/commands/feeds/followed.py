"""The topic feeds as commands see it: which feeds are followed, and how that is changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import click
from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.kafka.client import consumer, full_ranges, partitions, producer, read_records
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models.feed import Feed, decode
from urltree.page import PageError

_IN_FLIGHT = 1_000  # records


async def read_followed(settings: Settings, site: str | None = None) -> dict[bytes, Feed]:
    """Every feed that is followed, by its key; those of one site, where one is named."""
    async with consumer(settings) as client:
        return await read_followed_with(settings, client, site)


async def read_followed_with(
    settings: Settings, client: AIOKafkaConsumer, site: str | None = None
) -> dict[bytes, Feed]:
    """The same, with a consumer that is there already."""
    found: dict[bytes, Feed] = {}
    assigned = await site_partitions(settings, client, "feeds", site)
    async for record in read_records(client, await full_ranges(client, assigned)):
        found.pop(record.key or b"", None)
        if record.value is None:
            continue
        try:
            feed = decode(record.key, record.value)
        except PageError as error:
            click.echo(f"feeds/{record.partition}/{record.offset}: {error}", err=True)
            continue
        if site in (None, feed.site):
            found[feed.key] = feed
    return found


async def site_partitions(
    settings: Settings, client: AIOKafkaConsumer, topic: str, site: str | None
) -> list[TopicPartition]:
    """The partitions of a topic; where a site is named, that of the site."""
    assigned = await partitions(client, settings.topic(topic))
    if site is None:
        return assigned
    return [assigned[partition_of(site.encode(), len(assigned))]]


async def follow_feeds(settings: Settings, feeds: Iterable[Feed]) -> None:
    """Publish them, until Kafka has confirmed every one."""
    await _send(settings, ((feed, feed.encode()) for feed in feeds))


async def unfollow_feeds(settings: Settings, feeds: Iterable[Feed]) -> None:
    """Publish their tombstones."""
    await _send(settings, ((feed, None) for feed in feeds))


async def _send(settings: Settings, records: Iterable[tuple[Feed, bytes | None]]) -> None:
    topic = settings.topic("feeds")
    async with producer(settings) as out:
        count = len(await out.partitions_for(topic))
        waiting: list[asyncio.Future[object]] = []
        for feed, value in records:
            place = partition_of(feed.site.encode(), count)
            waiting.append(await out.send(topic, value, feed.key, place))
            if len(waiting) == _IN_FLIGHT:
                await asyncio.gather(*waiting)
                waiting.clear()
        await asyncio.gather(*waiting)


class SiteResolver:
    """To which site a feed belongs, by the rules of now.

    Raises:
        SettingsError: a file of rules cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        self._schemes = Schemes(settings)

    def of(self, url: str) -> str:
        """The registrable domain of an http address.

        Raises:
            ValueError: it has none.
        """
        try:
            return self._schemes.domain(url)
        except PageError as error:
            raise ValueError(error.message) from None

    def check(self, site: str) -> str:
        """A site as a person wrote it.

        Raises:
            ValueError: it is no registrable domain.
        """
        domain = self.of(f"http://{site}/")
        if domain != site.lower():
            raise ValueError(f"{site} is no site of its own, it belongs to {domain}")
        return domain
