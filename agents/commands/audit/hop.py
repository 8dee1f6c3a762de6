"""Audit of one hop: the origins in its source topic and their outcomes in its output topics.

    source ──▶ expected ──▶ ledger ◀── settled ◀── outputs

It is the base of both audits: of raw-html (`command`) and of fetches (`fetches`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from dataclasses import dataclass

import click
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.commands.audit.gone import Gone
from agents.commands.audit.ledger import AuditOutcome, Ledger
from agents.commands.terminal import show
from agents.kafka.batches.unread import offsets_of
from agents.kafka.client import Ranges, offsets, partitions, read_records, trusted_headers
from agents.settings.job import Settings
from models.dead_letter import DeadLetter
from models.headers.names import Headers
from models.origin import Origin
from urltree.page import PageError, Reason


@dataclass(frozen=True, slots=True)
class Range:
    """Range of source records that are audited.

    Attributes:
        partition: One partition, or None for all.
        first: Offset of the first record.
        end: Offset after the last record, or None for the end of the topic.
    """

    partition: int | None = None
    first: int = 0
    end: int | None = None

    def of(self, record: ConsumerRecord) -> range:
        """Return the offsets of a record that are in the range: none, one, or several.

        A record that stands for several is one that cannot be read.
        """
        if self.partition not in (None, record.partition):
            return range(0)
        offsets = offsets_of(record)
        end = offsets.stop if self.end is None else min(self.end, offsets.stop)
        return range(max(self.first, offsets.start), end)


class Hop(ABC):
    """Audit of one source topic: it finds the outcome of each record in the output topics.

    `read_on` updates the audit with new records.

    Args:
        settings: Settings of the job.
        client: A consumer without a group.
        within: Range that is audited; by default the whole topic.

    Attributes:
        source: Name of the source topic, without prefix.
        outputs: Names of the output topics, without prefix.
        ledger: Outcomes that were read so far.
        gone: Offsets of the audited range that are no longer in the source topic.
    """

    source: str
    outputs: tuple[str, ...]

    def __init__(
        self, settings: Settings, client: AIOKafkaConsumer, within: Range | None = None
    ) -> None:
        self._settings = settings
        self._client = client
        self._keys = settings.header_keys
        self._within = within or Range()
        self._next: dict[TopicPartition, int] = {}
        self.ledger = Ledger(settings.topic(self.source))
        self.gone = Gone()
        # By partition, the audited offsets that the source topic contains: first, and after last.
        self._there: dict[int, tuple[int, int]] = {}

    async def read_on(self, *, grow: bool) -> None:
        """Read all topics up to their present ends.

        Args:
            grow: Whether records that reached the source since the last call are audited, too.
        """
        # Get the ends of the output topics first. Then the source topic, which is read later,
        # contains the origin of every output record.
        outputs = await self._unread(*self.outputs)
        await self._read_source(grow=grow)
        async for record in self._read(outputs):
            topic = record.topic.removeprefix(self._settings.prefix)
            try:
                self._settle(topic, record)
            except PageError as error:
                click.echo(f"{topic}/{record.partition}/{record.offset}: {error}", err=True)

    async def _read_source(self, *, grow: bool) -> None:
        if grow:
            ranges = await self._unread(self.source, within=self._within)
            async for record in self._read(ranges):
                self._expect(record)

    async def _unread(self, *topics: str, within: Range | None = None) -> Ranges:
        """Return the ranges of these topics that were not read before, and mark them as read."""
        within = within or Range()
        ranges = {}
        for topic in topics:
            assigned = await partitions(self._client, self._settings.topic(topic))
            if within.partition is not None:
                assigned = [p for p in assigned if p.partition == within.partition]
            first = await self._client.beginning_offsets(assigned)
            ends = await self._client.end_offsets(assigned)
            for at in assigned:
                start = max(self._next.get(at, first[at]), within.first)
                end = ends[at] if within.end is None else min(ends[at], within.end)
                ranges[at] = (start, end)
                if at.topic == self.ledger.topic:
                    self._note_range(at.partition, first[at], ends[at])
                self._next[at] = max(start, end)
        return ranges

    def _read(self, ranges: Ranges) -> AsyncIterator[ConsumerRecord]:
        """Yield the records of these ranges, and show the progress on a terminal."""
        names = ", ".join(dict.fromkeys(place.topic for place in ranges))
        records = read_records(self._client, ranges, also_unread=True)
        return show(records, f"reading {names}", offsets(ranges))

    def _headers(self, record: ConsumerRecord) -> Headers:
        """Return the headers of a record on which stages rely, too."""
        return trusted_headers(self._keys, record)

    def _note_range(self, partition: int, first: int, end: int) -> None:
        """Note which audited offsets a partition of the source topic contains, and which not."""
        audited = self._within
        if audited.partition in (None, partition):
            end = end if audited.end is None else min(end, audited.end)
            self.gone.begin(partition, audited.first, min(first, end))
            self._there[partition] = (max(first, audited.first), end)

    def _settle_dead_letter(self, record: ConsumerRecord) -> None:
        """Enter a dead letter, which may stand for a range of records.

        Raises:
            PageError: The record is no dead letter.
        """
        letter = DeadLetter.from_record(record.key, record.value, record.headers)
        if letter.offsets is None:
            self.ledger.settle(letter.origin, AuditOutcome.DEAD_LETTER, letter.reason)
        elif letter.topic == self.ledger.topic:
            self._settle_range(letter, *letter.offsets)

    def _settle_range(self, letter: DeadLetter, first: int, last: int) -> None:
        partition = Origin.parse(letter.origin).partition
        if letter.reason == Reason.EXPIRED:
            self.gone.expire(partition, first, last)
            return
        start, end = self._there.get(partition, (0, 0))
        first, last = max(first, start), min(last, end - 1)
        if first <= last:
            self.ledger.settle_range(
                partition, first, last, AuditOutcome.DEAD_LETTER, letter.reason
            )

    def _expect(self, record: ConsumerRecord) -> None:
        """Enter a record of the source topic into the ledger as a missing page."""
        for offset in self._within.of(record):
            self.ledger.expect(record.partition, offset)

    @abstractmethod
    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        """Enter the outcome that a record of an output topic gives to its origin.

        Raises:
            PageError: The record is not valid for that topic.
        """
