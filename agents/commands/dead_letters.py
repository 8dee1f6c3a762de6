"""`python -m agents dead-letters list|show|replay`: what was refused, why, and once more.

A replayed page keeps its first origin. So to replay twice is harmless, and a dead letter whose page
was mended counts in the audit as what came of it. Of several letters of one origin the last counts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import click
import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.commands.dead_letter_view import as_json as all_of
from agents.commands.dead_letter_view import as_text, safe
from agents.kafka.client import consumer, partitions, producer, read, whole
from agents.kafka.partitions import partition_of
from agents.schemes import Schemes
from agents.settings import Settings, load
from models import headers as names
from models import raw_html
from models.dead_letter import DeadLetter
from urltree.page import PageError, Reason

_TOPICS = ("raw-html", "documents")  # what stages read, and a replay may write to


@dataclass(frozen=True, slots=True)
class Filter:
    """Which dead letters; what is None or empty filters nothing."""

    origins: tuple[str, ...] = ()
    reason: str | None = None
    stage: str | None = None
    domain: str | None = None

    def matches(self, letter: DeadLetter, schemes: Schemes) -> bool:
        """Whether this is one of them."""
        return (
            (not self.origins or letter.origin in self.origins)
            and self.reason in (None, letter.reason)
            and self.stage in (None, letter.stage)
            and (self.domain is None or self.domain == _domain(letter, schemes))
        )


class Found(NamedTuple):
    """A dead letter without its value, and where it lies."""

    origin: str
    stage: str
    reason: str
    message: str
    time: str
    partition: int
    offset: int


async def find(settings: Settings, wanted: Filter) -> list[Found]:
    """The last dead letter of each origin, oldest first."""
    schemes = Schemes(settings)
    last: dict[str, Found | None] = {}
    async with consumer(settings) as client:
        async for record, letter in _letters(settings, client, wanted.origins):
            time = datetime.fromtimestamp(record.timestamp / 1_000, UTC).isoformat(
                "T", "milliseconds"
            )
            found = Found(
                *(letter.origin, letter.stage, letter.reason, letter.message, time),
                *(record.partition, record.offset),
            )
            last[letter.origin] = found if wanted.matches(letter, schemes) else None
    return sorted((f for f in last.values() if f is not None), key=lambda found: found.time)


async def replay(settings: Settings, found: Sequence[Found], rate: float) -> int:
    """Send the originals to where their stage read them, so many a second; returns how many."""
    inputs = [settings.topic(name) for name in _TOPICS]
    places = {(letter.partition, letter.offset) for letter in found}
    sent = 0
    async with consumer(settings) as client, producer(settings) as out:
        async for record, letter in _letters(settings, client, [f.origin for f in found]):
            if (record.partition, record.offset) in places and letter.topic in inputs:
                await _send(out, letter)
                sent += 1
                await asyncio.sleep(1 / rate)
    return sent


@click.group("dead-letters")
def dead_letters() -> None:
    """Pages that could not become clean text, and why."""


_reason = click.option(
    "--reason", type=click.Choice([r.value for r in Reason]), help="Only of this reason."
)
_stage = click.option("--stage", type=click.Choice(["normalize", "extract"]), help="Only its.")
_domain_option = click.option("--domain", help="Only of this domain.")
_json = click.option("--json", "as_json", is_flag=True, help="JSON.")


@dead_letters.command("list")
@_reason
@_stage
@_domain_option
@click.option("--limit", type=click.IntRange(1), default=50, help="The last ones; 50 by default.")
@_json
def list_command(
    *, reason: str | None, stage: str | None, domain: str | None, limit: int, as_json: bool
) -> None:
    """List the last dead letters, oldest first, and count them by reason."""
    found = asyncio.run(find(load(), Filter((), reason, stage, domain)))
    counts = Counter(letter.reason for letter in found)
    if as_json:
        rows = [letter._asdict() for letter in found[-limit:]]
        click.echo(orjson.dumps({"total": len(found), "reasons": counts, "last": rows}))
        return
    table = Table("origin", "time", "stage", "reason", "message", box=None)
    for letter in found[-limit:]:
        cells = (letter.origin, letter.time, letter.stage, letter.reason, letter.message[:200])
        table.add_row(*(Text(safe(cell)) for cell in cells))  # no markup in what users wrote
    Console().print(table)
    click.echo(f"{len(found)} dead letters: {dict(counts)}" if found else "no dead letters")


@dead_letters.command("show")
@click.argument("origin")
@_json
def show_command(*, origin: str, as_json: bool) -> None:
    """Show the last dead letter of an ORIGIN. Exit 1: there is none."""
    letter = asyncio.run(last(load(), origin))
    if letter is None:
        click.echo(f"no dead letter of {origin}", err=True)
        raise SystemExit(1)
    click.echo(orjson.dumps(all_of(letter)) if as_json else as_text(letter))


@dead_letters.command("replay")
@click.argument("origins", nargs=-1)
@_reason
@_stage
@_domain_option
@click.option("--all", "everything", is_flag=True, help="Every dead letter.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=100.0, help="A second.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_json
def replay_command(  # noqa: PLR0913 - a command line
    *,
    origins: tuple[str, ...],
    reason: str | None,
    stage: str | None,
    domain: str | None,
    everything: bool,
    rate: float,
    yes: bool,
    as_json: bool,
) -> None:
    """Replay dead letters by ORIGINS, filters, or --all. Exit 1: there are none."""
    if not (origins or reason or stage or domain or everything):
        raise click.UsageError("name origins, a filter, or --all")
    settings = load()
    found = asyncio.run(find(settings, Filter(origins, reason, stage, domain)))
    if found and not yes:
        click.confirm(f"Replay {len(found)} dead letters?", abort=True, err=True)
    sent = asyncio.run(replay(settings, found, rate)) if found else 0
    click.echo(orjson.dumps({"replayed": sent}) if as_json else f"{sent} replayed")
    raise SystemExit(0 if sent else 1)


async def _letters(
    settings: Settings, client: AIOKafkaConsumer, origins: Sequence[str] = ()
) -> AsyncIterator[tuple[ConsumerRecord, DeadLetter]]:
    """Dead letters; where origins are named, those of their partitions."""
    assigned = await partitions(client, settings.topic("dead-letters"))
    if origins:
        count = len(assigned)
        of = {partition_of(origin.encode(), count) for origin in origins}
        assigned = [TopicPartition(assigned[0].topic, partition) for partition in sorted(of)]
    async for record in read(client, await whole(client, assigned)):
        try:
            yield record, DeadLetter.from_record(record.key, record.value, record.headers)
        except PageError as error:
            click.echo(f"dead-letters/{record.partition}/{record.offset}: {error}", err=True)


async def last(settings: Settings, origin: str) -> DeadLetter | None:
    """The last dead letter of an origin, None if there is none."""
    found = None
    async with consumer(settings) as client:
        async for _, letter in _letters(settings, client, [origin]):
            found = letter if letter.origin == origin else found
    return found


async def _send(out: AIOKafkaProducer, letter: DeadLetter) -> None:
    """As it was read but for our own headers: its first origin, and no word of a re-keying."""
    key, value, original = letter.original
    if key is None and value is None:
        key = b""  # aiokafka refuses to send nothing at all
    ours = (names.ORIGIN, names.REKEYED)
    headers = [(name, content) for name, content in original if name not in ours]
    count = len(await out.partitions_for(letter.topic))
    partition = partition_of(key if key is not None else letter.origin.encode(), count)
    await out.send_and_wait(
        *(letter.topic, value, key, partition),
        headers=[*headers, (names.ORIGIN, letter.origin.encode())],
    )


def _domain(letter: DeadLetter, schemes: Schemes) -> str:
    """The domain of the page, else what its key says."""
    try:
        page = raw_html.decode(letter.original.value, letter.original.headers)
        return schemes.of(page)[0].domain(page.final_url or "")
    except PageError:
        return (letter.original.key or b"").decode(errors="replace")
