"""`python -m agents audit`: check that every page of raw-html has an outcome.

    raw-html ──▶ expected        clean-text, duplicates, dead-letters ──▶ settled

With `--fetches` the command audits the step before, from the topic fetches to raw-html
(`agents.commands.audit.fetches`).

A range of records that retention deleted before the stage read them (dead letter `expired`) is
counted as missing, each offset once (`agents.commands.audit.gone`).

Limits of the audit, because topics do not keep everything:
- Kafka deletes outputs after the retention of their topic, so audit a range within seven days.
- Clean text is compacted by id. A later page with the same id may have replaced it (`revisits` is
  `replace`, or the first page's record in `seen` was deleted), or `forget` deleted it. Then the
  audit reads the page again, computes its id with the present settings, and counts the page as
  superseded or forgotten. The page is still reported as missing if the rules have changed since, or
  if the two pages are in different partitions and their times do not show which is later. So the
  audit may report too many missing pages, but never too few.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

import click
import orjson
from aiokafka import ConsumerRecord

from agents.commands.audit.fetches import FetchAccounts, account_fetches
from agents.commands.audit.hop import Hop, Range
from agents.commands.audit.ledger import Accounts, AuditOutcome
from agents.commands.audit.superseded import settle_replaced
from agents.kafka.client import consumer, partitions
from agents.settings.job import Settings, SettingsError, load_settings
from models import duplicate
from models.clean_text import read_origin
from models.command import is_command
from models.headers.names import ORIGIN, header
from urltree.site.deduplication import Step

_PAUSE = 1.0  # seconds between two readings of the topics


class Audit(Hop):
    """Audit of the pages in raw-html: it finds the outcome of each page in three output topics."""

    source = "raw-html"
    outputs = ("clean-text", "duplicates", "dead-letters")

    async def update(self, *, grow: bool = True) -> Accounts:
        """Read the new records, and return the number of pages by outcome; see `Hop.read_on`."""
        await self.read_on(grow=grow)
        return self.ledger.accounts(self.gone)

    async def explain(self) -> Accounts:
        """Check missing pages again: their clean text may have been replaced or deleted since."""
        await settle_replaced(self._settings, self._client, self.ledger)
        return self.ledger.accounts(self.gone)

    def _expect(self, record: ConsumerRecord) -> None:
        headers = self._headers(record)
        if header(headers, ORIGIN) is None and not is_command(headers):
            super()._expect(record)

    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        if topic == "clean-text":
            origin = read_origin(record.value)
            if origin is not None:
                self.ledger.settle(origin, AuditOutcome.CLEAN_TEXT)
        elif topic == "duplicates":
            found = duplicate.decode(record.value)
            if found.step is Step.SUPERSEDED:
                self.ledger.settle(found.origin, AuditOutcome.SUPERSEDED)
            else:
                self.ledger.settle(found.origin, AuditOutcome.DUPLICATE, found.step.value)
        else:
            self._settle_dead_letter(record)


@asynccontextmanager
async def auditing(settings: Settings, within: Range | None = None) -> AsyncIterator[Audit]:
    """Open an audit with a consumer of its own."""
    async with consumer(settings) as client:
        yield Audit(settings, client, within)


async def account(
    settings: Settings, within: Range | None = None, *, wait: float = 0.0
) -> Accounts:
    """Return the number of pages in a range by outcome.

    Args:
        settings: Settings of the job.
        within: Range of the pages; by default all pages up to now.
        wait: Longest time in seconds to wait until no page is missing.
    """
    until = time.monotonic() + wait
    async with auditing(settings, within) as audit:
        accounts = await audit.update()
        while accounts.missing > accounts.expired and time.monotonic() < until:
            await asyncio.sleep(_PAUSE)
            accounts = await audit.update(grow=False)
        return await audit.explain() if accounts.missing else accounts


@click.command()
@click.option(
    "--fetches",
    is_flag=True,
    help="Audit the topic fetches (pages that feeds name) instead of raw-html.",
)
@click.option(
    "--partition",
    type=click.IntRange(0),
    help="Partition of the audited topic; by default all partitions.",
)
@click.option(
    "--from",
    "first",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="First offset of the range.",
)
@click.option(
    "--to",
    "end",
    type=click.IntRange(0),
    help="End of the range: the offset after its last record; by default the topic's present end.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Longest time to wait until no page is missing, in seconds.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def audit(  # noqa: PLR0913 - a command line
    *,
    fetches: bool,
    partition: int | None,
    first: int,
    end: int | None,
    wait: float,
    as_json: bool,
) -> None:
    """Count the pages by outcome, and list missing pages.

    By default the pages of raw-html up to now are counted. Exit code 1: pages are missing.
    """
    settings, within = load_settings(), Range(partition, first, end)
    if partition is not None:
        topic = settings.topic("fetches" if fetches else "raw-html")
        asyncio.run(_check_partition(settings, topic, partition))
    accounts: Accounts | FetchAccounts
    if fetches:
        accounts = asyncio.run(account_fetches(settings, within, wait=wait))
        text = format_fetch_accounts(accounts)
    else:
        accounts = asyncio.run(account(settings, within, wait=wait))
        text = format_accounts(accounts)
    click.echo(orjson.dumps(asdict(accounts)) if as_json else text)
    raise SystemExit(1 if accounts.missing else 0)


async def _check_partition(settings: Settings, topic: str, partition: int) -> None:
    """Refuse a partition that the topic does not have.

    Raises:
        SettingsError: The topic does not have this partition.
    """
    async with consumer(settings) as client:
        count = len(await partitions(client, topic))
    if partition >= count:
        raise SettingsError(
            f"{topic} has no partition {partition}; its partitions are 0 to {count - 1}"
        )


def format_accounts(accounts: Accounts) -> str:
    """Return the outcomes of the pages in raw-html as text."""
    lines = [
        f"{accounts.origins:9,} origins",
        f"{accounts.clean_text:9,} clean text",
        _by_detail("duplicates", accounts.duplicates),
        _by_detail("dead letters", accounts.dead_letters),
    ]
    if accounts.superseded or accounts.forgotten:
        lines.append(f"{accounts.superseded:9,} superseded by a later page of the same id")
        lines.append(f"{accounts.forgotten:9,} forgotten on request")
    return "\n".join([*lines, *_missing(accounts)])


def format_fetch_accounts(accounts: FetchAccounts) -> str:
    """Return the outcomes of the pages in fetches as text."""
    lines = [
        f"{accounts.origins:9,} to be fetched",
        f"{accounts.pages:9,} pages in raw-html",
        f"{accounts.unchanged:9,} unchanged since the last visit",
        _by_detail("dead letters", accounts.dead_letters),
        f"{accounts.waiting:9,} waiting"
        + (f", {accounts.held:,} of them because they may be walls" if accounts.held else ""),
    ]
    return "\n".join([*lines, *_missing(accounts)])


def _missing(accounts: Accounts | FetchAccounts) -> list[str]:
    line = f"{accounts.missing:9,} missing" + (":" if accounts.missing else "")
    lines = [line, *(f"{'':9} {origin}" for origin in accounts.first_missing)]
    if accounts.expired:
        lines.append(
            f"{accounts.expired:9,} of the missing offsets expired before they were read; "
            "some of them may not have been pages"
        )
    if accounts.left:
        lines.append(f"{accounts.left:9,} offsets had left the topic before this audit")
    return lines


def _by_detail(name: str, counts: dict[str, int]) -> str:
    details = ", ".join(f"{detail} {count:,}" for detail, count in counts.items())
    return f"{sum(counts.values()):9,} {name}" + (f": {details}" if details else "")
