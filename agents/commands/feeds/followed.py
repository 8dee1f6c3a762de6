"""Commands' access to the topic feeds: read the followed feeds, add feeds, remove feeds."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping

import click
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import RecordMetadata

from agents.kafka.batches.unread import UnreadRecord
from agents.kafka.client import consumer, full_ranges, partitions, producer, read_records
from agents.kafka.partitions import partition_of
from agents.rules.topic import ends_of, read_rules, write_rules
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models.crawl.feed import Feed, decode
from urltree.crawl.decisions.feed.address import has_credentials, mask_credentials
from urltree.crawl.decisions.rules.rule import Action, CrawlRule, Scope, make_key
from urltree.page import PageError

_IN_FLIGHT = 1_000  # largest number of records that Kafka has not confirmed yet


async def read_followed(
    settings: Settings, site: str | None = None, *, also_refused: bool = False
) -> dict[bytes, Feed]:
    """Return all followed feeds by key, or those of one site.

    Args:
        settings: settings of the job.
        site: site of the feeds; None for all feeds.
        also_refused: whether to return also feeds whose address contains a user name or password.
            Workers refuse them, and otherwise they are reported on standard error.
    """
    async with consumer(settings) as client:
        return await read_followed_with(settings, client, site, also_refused=also_refused)


async def read_followed_with(
    settings: Settings,
    client: AIOKafkaConsumer,
    site: str | None = None,
    *,
    also_refused: bool = False,
) -> dict[bytes, Feed]:
    """Return the same as `read_followed`, with an open consumer."""
    found: dict[bytes, Feed] = {}
    assigned = await site_partitions(settings, client, "feeds", site)
    ranges = await full_ranges(client, assigned)
    async for record in read_records(client, ranges, also_unread=True):
        if isinstance(record, UnreadRecord):
            click.echo(f"skipped: {record.describe()}", err=True)
            continue
        found.pop(record.key or b"", None)
        if record.value is None:
            continue
        try:
            feed = decode(record.key, record.value)
        except PageError as error:
            place = f"feeds/{record.partition}/{record.offset}"
            message = mask_credentials(str(error))  # it may show the key of the record
            click.echo(f"{place} is not a valid feed, skipped: {message}", err=True)
            continue
        if site in (None, feed.site):
            found[feed.key] = feed
    return found if also_refused else _without_refused(found)


def _without_refused(feeds: dict[bytes, Feed]) -> dict[bytes, Feed]:
    """Return the feeds that workers poll, and report the others without their passwords."""
    for feed in [feed for feed in feeds.values() if has_credentials(feed.url)]:
        click.echo(
            f"{mask_credentials(feed.url)} is not polled, because its address contains a user name "
            "or password; remove it, and add it again without them and with --credentials",
            err=True,
        )
        del feeds[feed.key]
    return feeds


async def site_partitions(
    settings: Settings, client: AIOKafkaConsumer, topic: str, site: str | None
) -> list[TopicPartition]:
    """Return the partitions of a topic, or only the partition of the site."""
    assigned = await partitions(client, settings.topic(topic))
    if site is None:
        return assigned
    return [assigned[partition_of(site.encode(), len(assigned))]]


async def follow_feeds(settings: Settings, feeds: Iterable[Feed]) -> None:
    """Publish feeds, and wait until Kafka has confirmed all of them."""
    await _send(settings, ((feed, feed.encode()) for feed in feeds))


async def unfollow_feeds(settings: Settings, feeds: Iterable[Feed]) -> None:
    """Publish the tombstones of feeds, and the removals of their waiting pages.

    The removals are written first, so that they are not missing if the command is interrupted. They
    are written again if somebody has added one of these feeds in the meantime.
    """
    feeds = list(feeds)
    if not feeds:
        return
    known = await read_rules(settings)
    ends = await ends_of(settings, "feeds")
    before = dict(enumerate(ends.before))
    await write_rules(settings, known, await _removals(settings, feeds, ends.topic, before))
    last = await _send(settings, ((feed, None) for feed in feeds))
    sent = Counter(partition_of(feed.site.encode(), len(before)) for feed in feeds)
    if any(offset + 1 != before[place] + sent[place] for place, offset in last.items()):
        await write_rules(settings, known, await _removals(settings, feeds, ends.topic, last))


async def _removals(
    settings: Settings, feeds: Iterable[Feed], topic: str | None, before: Mapping[int, int]
) -> list[CrawlRule]:
    """Return the rules that remove the waiting pages of feeds.

    Args:
        settings: settings of the job.
        feeds: the feeds.
        topic: Kafka's id of the topic feeds.
        before: for each partition of feeds, the offset before which the additions lie.
    """
    now, fetches = time.time(), await ends_of(settings, "fetches")
    count = len(fetches.before)
    return [
        CrawlRule(
            make_key(Action.REMOVE, Scope.FEED, f"{feed.site} {feed.url}"),
            set_at=now,
            fetches=fetches,
            feeds=(topic, before[partition_of(feed.site.encode(), count)]),
        )
        for feed in feeds
        if not has_credentials(feed.url)  # no record contains a password; poll ignores such feeds
    ]


async def _send(settings: Settings, records: Iterable[tuple[Feed, bytes | None]]) -> dict[int, int]:
    """Publish records; return the offset of the last one by partition."""
    topic = settings.topic("feeds")
    last: dict[int, int] = {}
    async with producer(settings) as out:
        count = len(await out.partitions_for(topic))
        waiting: list[asyncio.Future[RecordMetadata]] = []
        for feed, value in records:
            place = partition_of(feed.site.encode(), count)
            waiting.append(await out.send(topic, value, feed.key, place))
            if len(waiting) == _IN_FLIGHT:
                last |= {one.partition: one.offset for one in await asyncio.gather(*waiting)}
                waiting.clear()
        last |= {one.partition: one.offset for one in await asyncio.gather(*waiting)}
    return last


class SiteResolver:
    """Finder of the site to which a feed belongs under the present settings.

    Raises:
        SettingsError: A file of rules or hosts cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        self._schemes = Schemes(settings)

    def of(self, url: str) -> str:
        """Return the registrable domain of a URL.

        Raises:
            ValueError: The URL has no registrable domain.
        """
        try:
            return self._schemes.domain(url)
        except PageError as error:
            raise ValueError(error.message) from None

    def check(self, site: str) -> str:
        """Return a site that a person wrote, in normal form.

        Raises:
            ValueError: The text is not a registrable domain.
        """
        domain = self.of(f"http://{site}/")
        if domain != site.lower():
            raise ValueError(f"{site} is not a registrable domain: it belongs to {domain}")
        return domain
