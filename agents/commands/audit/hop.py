"""Audit of one hop: the origins in its source topic and their outcomes in its output topics.

    source ──▶ expected ──▶ ledger ◀── settled ◀── outputs

It is the base of both audits: of raw-html (`command`) and of fetches (`fetches`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import click
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.commands.audit.ledger import Ledger
from agents.kafka.client import Ranges, partitions, read_records
from agents.settings.job import Settings
from urltree.page import PageError


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

    def has(self, record: ConsumerRecord) -> bool:
        """Return whether the record is in the range."""
        is_before_end = self.end is None or record.offset < self.end
        return (
            self.partition in (None, record.partition)
            and self.first <= record.offset
            and is_before_end
        )


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
    """

    source: str
    outputs: tuple[str, ...]

    def __init__(
        self, settings: Settings, client: AIOKafkaConsumer, within: Range | None = None
    ) -> None:
        self._settings = settings
        self._client = client
        self._within = within or Range()
        self._next: dict[TopicPartition, int] = {}
        self.ledger = Ledger(settings.topic(self.source))

    async def read_on(self, *, grow: bool) -> None:
        """Read all topics up to their present ends.

        Args:
            grow: Whether records that reached the source since the last call are audited, too.
        """
        # Get the ends of the output topics first. Then the source topic, which is read later,
        # contains the origin of every output record.
        outputs = await self._unread(*self.outputs)
        await self._read_source(grow=grow)
        async for record in read_records(self._client, outputs):
            topic = record.topic.removeprefix(self._settings.prefix)
            try:
                self._settle(topic, record)
            except PageError as error:
                click.echo(f"{topic}/{record.partition}/{record.offset}: {error}", err=True)

    async def _read_source(self, *, grow: bool) -> None:
        if grow:
            ranges = await self._unread(self.source, within=self._within)
            async for record in read_records(self._client, ranges):
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
                self._next[at] = max(start, end)
        return ranges

    @abstractmethod
    def _expect(self, record: ConsumerRecord) -> None:
        """Enter a record of the source topic into the ledger as a missing page."""

    @abstractmethod
    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        """Enter the outcome that a record of an output topic gives to its origin.

        Raises:
            PageError: The record is not valid for that topic.
        """
