"""The operator's access to the topic rules: read all rules, add rules, end rules.

A command returns when Kafka has confirmed its records and readers can see them. From then on the
promise of `agents.rules.watcher` counts.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import click
from aiokafka import AIOKafkaProducer
from aiokafka.structs import RecordMetadata

from agents.kafka.batches.unread import UnreadRecord
from agents.kafka.client import (
    consumer,
    full_ranges,
    partitions,
    producer,
    read_records,
    refuse_open_transactions,
)
from agents.kafka.offsets.transactions import high_watermarks
from agents.kafka.partitions import partition_of
from agents.kafka.topic_ids import topic_id
from agents.settings.job import Settings, SettingsError
from models.crawl import rule as records
from urltree.crawl.decisions.rules.rule import Action, CrawlRule, Extent, RuleKey
from urltree.crawl.decisions.rules.rules import MAX_RULES, Rules, TopicIds
from urltree.page import PageError

TOPIC = "rules"
KEEP_DAYS = 90  # days after which removals and purges end; dead letters are kept for 30 days
_IN_FLIGHT = 1_000  # largest number of records that Kafka has not confirmed yet


@dataclass
class KnownRules:
    """The rules that are in force, and the partitions that contain each of them.

    A rule lies in the partition of its key. Another program may have written it elsewhere, too; it
    ends when all its records are deleted.

    Attributes:
        rules: the rules by key.
        written_at: the times at which the broker stored the rules, in seconds since 1970.
    """

    rules: dict[RuleKey, CrawlRule] = field(default_factory=dict)
    written_at: dict[RuleKey, float] = field(default_factory=dict)
    _holders: dict[RuleKey, set[int]] = field(default_factory=lambda: defaultdict(set))

    def __iter__(self) -> Iterator[CrawlRule]:
        return iter(self.rules.values())

    def __contains__(self, key: RuleKey) -> bool:
        return key in self.rules

    def apply(self, partition: int, key: bytes | None, value: bytes | None) -> RuleKey | None:
        """Apply a record of the topic; return the key of the rule that has changed, if one has.

        Raises:
            PageError: `malformed`: the record is not a rule.
        """
        if value is not None:
            rule = records.decode(key, value)
            self._holders[rule.key].add(partition)
            self.rules[rule.key] = rule
            return rule.key
        try:
            name = records.decode_key(key)
        except PageError:
            return None  # the end of a record that was not a rule
        self._holders[name].discard(partition)
        if self._holders[name]:
            return None
        del self._holders[name]
        return name if self.rules.pop(name, None) else None

    def outlived(self, now: float) -> list[RuleKey]:
        """Return the removals and purges that are too old to cover any record of the job.

        Both times are the broker's. Before `KEEP_DAYS` are over, retention has removed all records
        and dead letters of that time.
        """
        return [
            key
            for key, at in self.written_at.items()
            if key in self.rules and key.action is not Action.DENY and now - at > KEEP_DAYS * 86_400
        ]

    def holders(self, key: RuleKey) -> frozenset[int]:
        """Return the partitions that contain a rule."""
        return frozenset(self._holders.get(key, ()))


async def read_rules(settings: Settings) -> KnownRules:
    """Return all rules; records that are no rules are reported on standard error."""
    known = KnownRules()
    async with consumer(settings) as client:
        ranges = await full_ranges(client, await partitions(client, settings.topic(TOPIC)))
        async for record in read_records(client, ranges, also_unread=True):
            place = f"{record.topic}/{record.partition}/{record.offset}"
            if isinstance(record, UnreadRecord):
                click.echo(f"skipped: {record.describe()}", err=True)
                continue
            try:
                key = known.apply(record.partition, record.key, record.value)
                if key is not None:
                    known.written_at[key] = record.timestamp / 1000
            except PageError as error:
                click.echo(f"{place} is not a rule, skipped: {error}", err=True)
    return known


async def write_rules(
    settings: Settings,
    known: KnownRules,
    added: Iterable[CrawlRule] = (),
    ended: Iterable[RuleKey] = (),
) -> None:
    """Write rules and the ends of rules, until every worker can read them.

    Raises:
        SettingsError: There would be more rules than MAX_RULES; nothing was written. Or an open
            transaction of another program hides the records from the workers.
    """
    added, ended = list(added), list(ended)
    names = {*known.rules, *(rule.key for rule in added)} - set(ended)
    names = {name for name in names if name.action is not Action.REMOVE}
    if added and len(names) > MAX_RULES:
        raise SettingsError(
            f"there would be {len(names):,} rules, more than {MAX_RULES:,}: deny whole domains "
            "instead of single hosts or paths, or end rules with `deny remove`"
        )
    topic = settings.topic(TOPIC)
    if not added and not ended:
        return
    async with producer(settings) as out:
        count = len(await out.partitions_for(topic))
        now = await _send(
            out,
            topic,
            (
                (partition_of(records.encode_key(rule.key), count), rule.key, records.encode(rule))
                for rule in added
            ),
        )
        ended += known.outlived(now)
        await _send(
            out, topic, ((place, key, None) for key in ended for place in known.holders(key))
        )
    async with consumer(settings) as client:
        await refuse_open_transactions(client, await partitions(client, topic))


async def _send(
    out: AIOKafkaProducer, topic: str, found: Iterable[tuple[int, RuleKey, bytes | None]]
) -> float:
    """Send records until Kafka has confirmed them; return the broker's time of the last one."""
    waiting: list[asyncio.Future[RecordMetadata]] = []
    done: list[RecordMetadata] = []
    for place, key, value in found:
        waiting.append(await out.send(topic, value, records.encode_key(key), place))
        if len(waiting) == _IN_FLIGHT:
            done = await asyncio.gather(*waiting)
            waiting.clear()
    done = await asyncio.gather(*waiting) or done
    return max((one.timestamp / 1000 for one in done), default=0.0)


async def ends_of(settings: Settings, topic: str) -> Extent:
    """Return the records that a topic contains now, open transactions included.

    Args:
        settings: settings of the job.
        topic: name of the topic, without prefix.
    """
    async with consumer(settings) as client:
        places = await partitions(client, settings.topic(topic))
        ends = await high_watermarks(client, places)
    return Extent(await topic_id(settings, topic), tuple(ends[place] for place in places))


async def topic_ids(settings: Settings) -> TopicIds:
    """Return Kafka's ids of the topics to which the offsets in rules belong."""
    return TopicIds(await topic_id(settings, "fetches"), await topic_id(settings, "feeds"))


def index(known: Iterable[CrawlRule], ids: TopicIds) -> Rules:
    """Return rules as an index for verdicts."""
    rules = Rules()
    rules.ids = ids
    for rule in known:
        rules.put(rule)
    return rules
