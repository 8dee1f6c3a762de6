"""`python -m agents audit`: every origin of a range ends as one of the outcomes, or is missing.

    raw-html ──▶ expected        clean-text, duplicates, dead-letters ──▶ settled

What it cannot know, for topics forget:
- Outputs older than their topic's retention are gone: audit a range within 7 days.
- Clean text is compacted by id. Where a later page of the same id took its place (`seen` had
  forgotten the first, or `forget` was called), the page is read again, its id computed with the
  settings of now, and found superseded or forgotten. If its rules have changed since, or the two
  pages lie in different partitions so that their order is unknown, it stays missing: the audit
  rather reports one too many.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

import click
import orjson
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.commands.ledger import Accounts, Ledger, Outcome
from agents.commands.superseded import explain
from agents.kafka.client import Ranges, consumer, partitions, read
from agents.settings import Settings, load
from models import duplicate
from models.clean_text import origin_of
from models.command import is_command
from models.dead_letter import DeadLetter
from models.headers import ORIGIN, header
from urltree.page import PageError

_OUTPUTS = ("clean-text", "duplicates", "dead-letters")
_PAUSE = 1.0  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Range:
    """Which pages of raw-html are audited.

    Attributes:
        partition: one, or None for all.
        first, end: offsets, the end not included; None for what there is at the start.
    """

    partition: int | None = None
    first: int = 0
    end: int | None = None


class Audit:
    """The accounts of a range, brought up to date as often as one likes.

    Args:
        client: a consumer without a group.
        within: what is audited; everything by default.
    """

    def __init__(
        self, settings: Settings, client: AIOKafkaConsumer, within: Range | None = None
    ) -> None:
        self._settings = settings
        self._client = client
        self._within = within or Range()
        self._next: dict[TopicPartition, int] = {}
        self.ledger = Ledger(settings.topic("raw-html"))

    async def update(self, *, grow: bool = True) -> Accounts:
        """Read on to where the topics end now.

        Args:
            grow: also expect the pages that came since the last time.
        """
        # The ends of the outputs first: whatever lies before them has its origin in raw-html now.
        outputs = await self._unread(*_OUTPUTS)
        if grow:
            async for record in read(self._client, await self._unread("raw-html")):
                self._expect(record)
        async for record in read(self._client, outputs):
            self._settle(record)
        return self.ledger.accounts()

    async def explain(self) -> Accounts:
        """Look a second time at what is missing: its clean text may have been replaced since."""
        await explain(self._settings, self._client, self.ledger)
        return self.ledger.accounts()

    async def _unread(self, *topics: str) -> Ranges:
        ranges = {}
        for topic in topics:
            assigned = await partitions(self._client, self._settings.topic(topic))
            if topic == "raw-html" and self._within.partition is not None:
                assigned = [p for p in assigned if p.partition == self._within.partition]
            first = await self._client.beginning_offsets(assigned)
            ends = await self._client.end_offsets(assigned)
            for partition in assigned:
                start, end = self._next.get(partition, first[partition]), ends[partition]
                if topic == "raw-html":
                    start = max(start, self._within.first)
                    end = min(end, end if self._within.end is None else self._within.end)
                ranges[partition] = (start, end)
                self._next[partition] = max(start, end)
        return ranges

    def _expect(self, record: ConsumerRecord) -> None:
        if header(record.headers, ORIGIN) is None and not is_command(record.headers):
            self.ledger.expect(record.partition, record.offset)

    def _settle(self, record: ConsumerRecord) -> None:
        topic = record.topic.removeprefix(self._settings.prefix)
        try:
            if topic == "clean-text":
                origin = origin_of(record.value)
                if origin is not None:
                    self.ledger.settle(origin, Outcome.CLEAN_TEXT)
            elif topic == "duplicates":
                found = duplicate.decode(record.value)
                self.ledger.settle(found.origin, Outcome.DUPLICATE, found.step.value)
            else:
                letter = DeadLetter.from_record(record.key, record.value, record.headers)
                self.ledger.settle(letter.origin, Outcome.DEAD_LETTER, letter.reason)
        except PageError as error:
            click.echo(f"{topic}/{record.partition}/{record.offset}: {error}", err=True)


@asynccontextmanager
async def auditing(settings: Settings, within: Range | None = None) -> AsyncIterator[Audit]:
    """An audit with a consumer of its own."""
    async with consumer(settings) as client:
        yield Audit(settings, client, within)


async def account(
    settings: Settings, within: Range | None = None, *, wait: float = 0.0
) -> Accounts:
    """What became of every page of a range.

    Args:
        settings: of the job.
        within: everything up to now by default.
        wait: seconds to wait until nothing is missing.
    """
    until = time.monotonic() + wait
    async with auditing(settings, within) as audit:
        accounts = await audit.update()
        while accounts.missing and time.monotonic() < until:
            await asyncio.sleep(_PAUSE)
            accounts = await audit.update(grow=False)
        return await audit.explain() if accounts.missing else accounts


@click.command()
@click.option("--partition", type=click.IntRange(0), help="Of raw-html; all by default.")
@click.option("--from", "first", type=click.IntRange(0), default=0, help="First offset.")
@click.option("--to", "end", type=click.IntRange(0), help="Offset behind the last.")
@click.option("--wait", type=click.FloatRange(0), default=0.0, help="Seconds until it must be so.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def audit(
    *, partition: int | None, first: int, end: int | None, wait: float, as_json: bool
) -> None:
    """Say what became of every page of raw-html up to now. Exit 1: pages are missing."""
    accounts = asyncio.run(account(load(), Range(partition, first, end), wait=wait))
    if as_json:
        click.echo(orjson.dumps(asdict(accounts)))
    else:
        click.echo(report(accounts))
    raise SystemExit(1 if accounts.missing else 0)


def report(accounts: Accounts) -> str:
    """The accounts for a person."""
    lines = [
        f"{accounts.origins:9,} origins",
        f"{accounts.clean_text:9,} clean text",
        _by_detail("duplicates", accounts.duplicates),
        _by_detail("dead letters", accounts.dead_letters),
    ]
    if accounts.superseded or accounts.forgotten:
        lines.append(f"{accounts.superseded:9,} superseded by a later page of the same id")
        lines.append(f"{accounts.forgotten:9,} forgotten on request")
    lines.append(f"{accounts.missing:9,} missing" + (":" if accounts.missing else ""))
    return "\n".join([*lines, *(f"{'':9} {origin}" for origin in accounts.first_missing)])


def _by_detail(name: str, counts: dict[str, int]) -> str:
    details = ", ".join(f"{detail} {count:,}" for detail, count in counts.items())
    return f"{sum(counts.values()):9,} {name}" + (f": {details}" if details else "")
