"""A hop of the pipeline, audited: the origins in its source, and what its outputs say of them.

    source ──▶ expected ──▶ ledger ◀── settled ◀── outputs

The two audits stand on it: of pages (`audit`) and of fetches (`audit_fetches`).
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
    """Which records of the source are audited.

    Attributes:
        partition: one, or None for all.
        first, end: offsets, the end not included; None for what there is at the start.
    """

    partition: int | None = None
    first: int = 0
    end: int | None = None

    def has(self, record: ConsumerRecord) -> bool:
        """Whether this is one of them."""
        is_before_end = self.end is None or record.offset < self.end
        return (
            self.partition in (None, record.partition)
            and self.first <= record.offset
            and is_before_end
        )


class Hop(ABC):
    """The accounts of a range, brought up to date as often as one likes.

    Args:
        settings: of the job.
        client: a consumer without a group.
        within: what is audited; everything by default.

    Attributes:
        source, outputs: names of topics, without prefix.
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
        """Read to where the topics end now.

        Args:
            grow: also expect what came into the source since the last time.
        """
        # The ends of the outputs first: whatever lies before them has its origin in the source now.
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
        """What lies in these topics and was not asked for yet."""
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
        """A record of the source."""

    @abstractmethod
    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        """A record of an output.

        Raises:
            PageError: it is none of that topic.
        """
