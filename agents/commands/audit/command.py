"""`python -m agents audit`: every origin of a range ends as one of the outcomes, or is missing.

    raw-html ──▶ expected        clean-text, duplicates, dead-letters ──▶ settled

`--fetches` audits the hop before it (`audit_fetches`).

What it cannot know, for topics forget:
- Outputs older than their topic's retention are gone: audit a range within 7 days.
- Clean text is compacted by id. Where a later page of the same id took its place (with `revisits`
  `replace`, or `seen` had forgotten the first, or `forget` was called), the page is read again, its
  id computed with the settings of now, and found superseded or forgotten. If its rules have changed
  since, or the two pages lie in different partitions and their times do not say which is later, it
  stays missing: the audit rather reports one too many.
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
from agents.commands.audit.ledger import Accounts, Outcome
from agents.commands.audit.superseded import explain
from agents.kafka.client import consumer
from agents.settings.job import Settings, load
from models import duplicate
from models.clean_text import origin_of
from models.command import is_command
from models.dead_letter import DeadLetter
from models.headers import ORIGIN, header
from urltree.site.deduplication import Step

_PAUSE = 1.0  # seconds between two looks


class Audit(Hop):
    """The accounts of raw-html."""

    source = "raw-html"
    outputs = ("clean-text", "duplicates", "dead-letters")

    async def update(self, *, grow: bool = True) -> Accounts:
        """Read on; see `Hop.read_on`."""
        await self.read_on(grow=grow)
        return self.ledger.accounts()

    async def explain(self) -> Accounts:
        """Look a second time at what is missing: its clean text may have been replaced since."""
        await explain(self._settings, self._client, self.ledger)
        return self.ledger.accounts()

    def _expect(self, record: ConsumerRecord) -> None:
        if header(record.headers, ORIGIN) is None and not is_command(record.headers):
            self.ledger.expect(record.partition, record.offset)

    def _settle(self, topic: str, record: ConsumerRecord) -> None:
        if topic == "clean-text":
            origin = origin_of(record.value)
            if origin is not None:
                self.ledger.settle(origin, Outcome.CLEAN_TEXT)
        elif topic == "duplicates":
            found = duplicate.decode(record.value)
            if found.step is Step.SUPERSEDED:
                self.ledger.settle(found.origin, Outcome.SUPERSEDED)
            else:
                self.ledger.settle(found.origin, Outcome.DUPLICATE, found.step.value)
        else:
            letter = DeadLetter.from_record(record.key, record.value, record.headers)
            self.ledger.settle(letter.origin, Outcome.DEAD_LETTER, letter.reason)


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
@click.option("--fetches", is_flag=True, help="Audit the pages that feeds have named instead.")
@click.option("--partition", type=click.IntRange(0), help="Of raw-html; all by default.")
@click.option("--from", "first", type=click.IntRange(0), default=0, help="First offset.")
@click.option("--to", "end", type=click.IntRange(0), help="Offset behind the last.")
@click.option("--wait", type=click.FloatRange(0), default=0.0, help="Seconds until it must be so.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def audit(  # noqa: PLR0913 - a command line
    *,
    fetches: bool,
    partition: int | None,
    first: int,
    end: int | None,
    wait: float,
    as_json: bool,
) -> None:
    """Say what became of every page of raw-html up to now. Exit 1: pages are missing."""
    within = Range(partition, first, end)
    accounts: Accounts | FetchAccounts
    if fetches:
        accounts = asyncio.run(account_fetches(load(), within, wait=wait))
        text = report_fetches(accounts)
    else:
        accounts = asyncio.run(account(load(), within, wait=wait))
        text = report(accounts)
    click.echo(orjson.dumps(asdict(accounts)) if as_json else text)
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
    return "\n".join([*lines, *_missing(accounts)])


def report_fetches(accounts: FetchAccounts) -> str:
    """The accounts of fetches for a person."""
    lines = [
        f"{accounts.origins:9,} to be fetched",
        f"{accounts.pages:9,} pages in raw-html",
        _by_detail("dead letters", accounts.dead_letters),
        f"{accounts.waiting:9,} waiting",
    ]
    return "\n".join([*lines, *_missing(accounts)])


def _missing(accounts: Accounts | FetchAccounts) -> list[str]:
    line = f"{accounts.missing:9,} missing" + (":" if accounts.missing else "")
    return [line, *(f"{'':9} {origin}" for origin in accounts.first_missing)]


def _by_detail(name: str, counts: dict[str, int]) -> str:
    details = ", ".join(f"{detail} {count:,}" for detail, count in counts.items())
    return f"{sum(counts.values()):9,} {name}" + (f": {details}" if details else "")
