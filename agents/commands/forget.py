"""`python -m agents forget URL|DOMAIN`: delete the rows and clean text of a page or a domain.

    command ──▶ raw-html ──▶ normalize ──▶ extract ──▶ answer      rows, trees, their clean text
                                                          └─▶ this command: clean text whose row
                                                              was evicted before
       ──▶ requests ──▶ fetch                                 what it remembers of the pages

The pages themselves remain in raw-html, documents, unchanged and dead-letters until the retention
of these topics ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import NamedTuple

import click
import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.structs import RecordMetadata

from agents.forgetting import HEADERS, answer
from agents.kafka.client import consumer, full_ranges, partitions, producer, read_records
from agents.kafka.partitions import partition_of
from agents.kafka.topic_ids import topic_id
from agents.settings.job import Settings, load_settings
from agents.settings.schemes import Schemes
from models import clean_text
from models.command import Forget
from models.headers.signature import SignedRecord
from models.origin import Origin
from urltree.address.url_key import KeyScheme
from urltree.page import Page, PageError


class Forgotten(NamedTuple):
    """Result of the command.

    Attributes:
        domain: Domain of the deleted pages.
        ids: Ids of the documents, or None for the whole domain.
        answered: Whether both stages have confirmed the command. If not, they will carry it out
            when they run.
        tombstones: Number of clean texts without a row that this command deleted.
    """

    domain: str
    ids: tuple[str, ...] | None
    answered: bool
    tombstones: int


async def resolve(settings: Settings, target: str) -> Forget:
    """Return the command `forget` for a URL or a domain.

    Raises:
        click.UsageError: The target is neither a URL nor a domain.
    """
    schemes = Schemes(settings).of(Page(url=None, html=""))
    try:
        if "/" not in target:
            return Forget(_domain(schemes[0], target))
        keys = [scheme.key(target, _no_title) for scheme in schemes]
    except PageError as error:
        raise click.UsageError(f"{target} is not a URL or a domain: {error}") from None
    domain = keys[0].domain
    ids = {key.id for key in keys if key.domain == domain}
    # If a URL shows changing pages, their ids depend on their titles: find the ids in clean-text.
    urls = [target]
    async with consumer(settings) as client:
        for document_id, url in (await _clean_texts(settings, client, domain)).items():
            if _without_title(schemes[0], url) == keys[0].id:
                ids.add(document_id)
            if document_id in ids:
                urls.append(url)
    return Forget(domain, tuple(sorted(ids)), urls=tuple(dict.fromkeys(urls)))


async def forget(
    settings: Settings, command: Forget, wait: float, *, remember: bool = True
) -> Forgotten:
    """Send the command, wait for the answer, and delete the clean text that has no row.

    Args:
        settings: Settings of the job.
        command: The command.
        wait: Seconds to wait for the answer.
        remember: Whether the stages store a marker, so that a page that is read again later is not
            published.
    """
    async with consumer(settings) as client, producer(settings) as out:
        key = command.domain.encode()
        assigned = await partitions(client, settings.topic("clean-text"))
        place = TopicPartition(assigned[0].topic, partition_of(key, len(assigned)))
        start = (await client.end_offsets([place]))[place]
        if remember:
            command = await _with_offsets(settings, client, command)
        if remember:
            await _send(settings, out, "requests", command, place.partition)
        sent = await _send(settings, out, "raw-html", command, place.partition)
        origin = str(Origin(sent.topic, sent.partition, sent.offset))
        at = await _offset_of(client, place, start, answer(origin), wait)
        left: Iterable[str] = ()
        if at is not None and command.ids is None:
            left = await _clean_texts(settings, client, command.domain, at)
        count = await _send_tombstones(out, place, left)
    return Forgotten(command.domain, command.ids, at is not None, count)


@click.command("forget")
@click.argument("target", metavar="URL|DOMAIN")
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    help="Seconds to wait for the answer of the workers.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def forget_command(*, target: str, wait: float, yes: bool, as_json: bool) -> None:
    """Delete the rows and the clean text of a page or a domain.

    The pages remain in raw-html, documents and dead-letters until their retention ends. Exit
    code 1: no worker answered in time.
    """
    settings = load_settings()
    command = asyncio.run(resolve(settings, target))
    what = "every page" if command.ids is None else f"{len(command.ids)} id(s)"
    if not yes:
        click.confirm(f"Delete {what} of {command.domain}?", abort=True, err=True)
    done = asyncio.run(forget(settings, command, wait))
    if as_json:
        click.echo(orjson.dumps(done._asdict()))
    elif done.answered:
        click.echo(f"deleted {what} of {done.domain}")
    else:
        click.echo(
            f"no answer within {wait:g} s: the workers will delete {what} of {done.domain} when "
            "they run; then repeat this command to delete clean text whose row was evicted",
            err=True,
        )
    raise SystemExit(0 if done.answered else 1)


async def _send(
    settings: Settings, out: AIOKafkaProducer, topic: str, command: Forget, partition: int
) -> RecordMetadata:
    """Send the command to a topic, and wait until Kafka has confirmed it."""
    key = command.domain.encode()
    record = SignedRecord(settings.topic(topic), key, command.encode(), HEADERS)
    headers = settings.header_keys.sign(record)
    return await out.send_and_wait(record.topic, record.value, key, partition, headers=headers)


async def _with_offsets(settings: Settings, client: AIOKafkaConsumer, command: Forget) -> Forget:
    """Return the command with the ends of all partitions of raw-html.

    The pages before the ends are forgotten, also those that were published with a wrong key to
    another partition than the command.
    """
    places = await partitions(client, settings.topic("raw-html"))
    ends = await client.end_offsets(places)
    known = await topic_id(settings, "raw-html")
    return replace(command, topic=known, before=tuple(ends[place] for place in places))


def _domain(scheme: KeyScheme, target: str) -> str:
    """Return a domain in the form that keys have.

    Raises:
        PageError, click.UsageError: The target is not a registrable domain.
    """
    domain = scheme.domain(f"http://{target}/")
    if domain != target.lower():
        raise click.UsageError(
            f"{target} is not a registrable domain: its pages belong to {domain}; pass {domain} or "
            "a URL"
        )
    return domain


def _no_title() -> None:
    return None


def _without_title(scheme: KeyScheme, url: str) -> str | None:
    try:
        return scheme.key(url, _no_title).id
    except PageError:
        return None


async def _clean_texts(
    settings: Settings, client: AIOKafkaConsumer, domain: str, end: float = inf
) -> dict[str, str]:
    """Return the URLs of a domain's clean texts by id, without deleted ones, up to an offset.

    Args:
        settings: Settings of the job.
        client: A consumer without a group.
        domain: Domain whose partition is read.
        end: Offset of the answer; clean text after this offset belongs to later pages.
    """
    assigned = await partitions(client, settings.topic("clean-text"))
    place = TopicPartition(assigned[0].topic, partition_of(domain.encode(), len(assigned)))
    found: dict[str, str] = {}
    async for record in read_records(client, await full_ranges(client, [place])):
        document_id = (record.key or b"").decode(errors="replace")
        found.pop(document_id, None)
        try:
            fields = clean_text.decode(record.value) if record.value is not None else {}
        except PageError:
            continue
        if fields.get("domain") == domain and record.offset < end:
            found[document_id] = str(fields.get("response_url"))
    return found


async def _offset_of(
    client: AIOKafkaConsumer, place: TopicPartition, start: int, key: bytes, wait: float
) -> int | None:
    """Return the offset of a record with this key, or None if none comes within `wait` seconds."""
    client.assign([place])
    client.seek(place, start)
    try:
        async with asyncio.timeout(wait):
            while True:
                record = await client.getone()
                if record.key == key:
                    return int(record.offset)
    except TimeoutError:
        return None


async def _send_tombstones(out: AIOKafkaProducer, place: TopicPartition, ids: Iterable[str]) -> int:
    sent = [
        await out.send(place.topic, None, document_id.encode(), place.partition)
        for document_id in ids
    ]
    for future in sent:
        await future
    return len(sent)
