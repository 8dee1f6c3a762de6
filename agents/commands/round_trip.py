"""`python -m agents round-trip`: send one page through the job, then delete it with `forget`.

    page ──▶ raw-html ──▶ normalize ──▶ extract ──▶ clean-text: does it contain the main text?
                              └────────────┴──▶ dead-letters: the reason
    afterwards, in any case: forget ──▶ raw-html

Each round trip uses its own domain under `.example`, where domains cannot be registered (RFC 2606,
section 2). So a round trip does not affect the result of any other page, nor of another round trip
at the same time.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

import click
import orjson
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.commands.forget import forget
from agents.kafka.client import consumer, partitions, producer, read_records
from agents.kafka.groups import committed_offsets, count_workers
from agents.kafka.partitions import route_key
from agents.settings.job import Settings, load_settings
from agents.settings.schemes import Schemes
from models import clean_text, raw_html
from models.command import Forget
from models.dead_letter import DeadLetter
from models.headers.names import ORIGIN, header
from models.origin import Origin
from urltree.page import Page, PageError

_SENTENCES = (
    "This page was published to see whether a page comes through, and how long that takes.",
    "It has a menu and a footer, as pages have, and these sentences are its main text.",
    "It will be forgotten at once, and its address {} leads nowhere.",
)
_HTML = """<!doctype html><html lang="en"><head><title>Round trip {0}</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About</a></nav>
<main><article><h1>Round trip {0}</h1>{1}</article></main>
<footer><a href="/imprint">Imprint</a></footer></body></html>"""


class Trip(NamedTuple):
    """Result of a round trip.

    Attributes:
        domain: Domain of the page.
        origin: Place of the page in raw-html, as topic/partition/offset.
        seconds: Time from Kafka's confirmation of the page until its clean text was read; None if
            no clean text came.
        forgotten: Whether both stages have confirmed the deletion of the page. If not, they will
            delete the page when they run.
        trouble: Description of the problem, or None.
    """

    domain: str
    origin: str
    seconds: float | None
    forgotten: bool
    trouble: str | None


class Probe:
    """Test page that makes one round trip.

    Args:
        settings: Settings of the job.

    Attributes:
        domain: Domain to which only this page belongs.
        sentences: Sentences of the page's main text.
        value: Value of the record for raw-html.
        id: Id of the page's document under these settings.
    """

    def __init__(self, settings: Settings) -> None:
        name = uuid4().hex
        self.domain = f"round-trip-{name}.example"
        url = f"https://{self.domain}/{name}"
        self.sentences = [sentence.format(url) for sentence in _SENTENCES]
        body = "".join(f"<p>{sentence}</p>" for sentence in self.sentences)
        self.value = raw_html.encode(Page(url=url, html=_HTML.format(name, body)))
        self.id: str = Schemes(settings).of(Page(url=url, html=""))[0].key(url, lambda: None).id


async def round_trip(settings: Settings, wait: float) -> Trip:
    """Publish a page, wait for its clean text or dead letter, and delete the page with `forget`.

    Args:
        settings: Settings of the job.
        wait: Seconds to wait for the clean text, and again for the answer to `forget`.
    """
    probe = Probe(settings)
    async with consumer(settings) as client, producer(settings) as out:
        source = await partitions(client, settings.topic("raw-html"))
        to = route_key(probe.domain, len(source))
        ends = await _ends(settings, client)
        sent = await out.send_and_wait(
            settings.topic("raw-html"), probe.value, to.key, to.partition
        )
        origin = Origin(sent.topic, sent.partition, sent.offset)
        since = monotonic()
        found = await _answer(settings, client, ends, origin, wait)
        seconds = monotonic() - since
        if found is None:
            trouble: str | None = await _where_it_is(settings, client, ends, origin)
        else:
            trouble = _trouble(settings, found, probe)
    came = found is not None and found.topic == settings.topic("clean-text")
    ids = {probe.id, found.key.decode()} if found is not None and came else {probe.id}
    command = Forget(probe.domain, tuple(sorted(ids)))
    done = await forget(settings, command, 0 if found is None else wait, remember=False)
    if trouble is None and not done.answered:
        trouble = (
            f"the clean text came after {seconds:.1f} s, but the workers have not confirmed within "
            f"{wait:g} s that the page is deleted"
        )
    return Trip(probe.domain, str(origin), seconds if came else None, done.answered, trouble)


@click.command("round-trip")
@click.option(
    *("--wait", "wait"),
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    help="Seconds to wait for the clean text, and then again for the deletion of the page.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def round_trip_command(*, wait: float, as_json: bool) -> None:
    """Publish a test page, wait for its clean text, and delete the page.

    Exit code 1: the clean text did not come or is wrong, or the deletion was not confirmed; the
    message gives the reason.
    """
    trip = asyncio.run(round_trip(load_settings(), wait))
    if as_json:
        click.echo(orjson.dumps(trip._asdict()))
    elif trip.trouble is None:
        click.echo(f"{trip.origin} became clean text in {trip.seconds:.2f} s, and was deleted")
    else:
        click.echo(f"{trip.origin}: {trip.trouble}", err=True)
    raise SystemExit(0 if trip.trouble is None else 1)


async def _ends(settings: Settings, client: AIOKafkaConsumer) -> dict[TopicPartition, int]:
    """Return the end offsets of the topics in which the page may appear."""
    ends: dict[TopicPartition, int] = {}
    for name in ("documents", "clean-text", "dead-letters"):
        ends |= await client.end_offsets(await partitions(client, settings.topic(name)))
    return ends


async def _answer(
    settings: Settings,
    client: AIOKafkaConsumer,
    ends: dict[TopicPartition, int],
    origin: Origin,
    wait: float,
) -> ConsumerRecord | None:
    """Return the page's clean text or dead letter, or None if neither comes within `wait`."""
    text = TopicPartition(settings.topic("clean-text"), origin.partition)
    letters = settings.topic("dead-letters")
    count = sum(place.topic == letters for place in ends)
    letter = TopicPartition(letters, route_key(str(origin), count).partition)
    client.assign([text, letter])
    for place in (text, letter):
        client.seek(place, ends[place])
    try:
        async with asyncio.timeout(wait):
            while True:
                record = await client.getone()
                if _is_of(record, origin, is_text=record.topic == text.topic):
                    return record
    except TimeoutError:
        return None


def _is_of(record: ConsumerRecord, origin: Origin, *, is_text: bool) -> bool:
    name = str(origin)
    if not is_text:
        return bool(record.key == name.encode())
    if name.encode() not in (record.value or b""):
        return False  # a cheap test, so that other pages need not be decoded
    try:
        return clean_text.read_origin(record.value) == name
    except PageError:
        return False


def _trouble(settings: Settings, found: ConsumerRecord, probe: Probe) -> str | None:
    """Return the problem with a clean text or dead letter, or None."""
    if found.topic == settings.topic("dead-letters"):
        letter = DeadLetter.from_record(found.key, found.value, found.headers)
        return f"became a dead letter of {letter.stage}, {letter.reason}: {letter.message}"
    text: Any = clean_text.decode(found.value).get("text")
    missing = [sentence for sentence in probe.sentences if sentence not in text]
    return f"the clean text lacks {missing[0]!r}; it is {text!r}" if missing else None


async def _where_it_is(
    settings: Settings, client: AIOKafkaConsumer, ends: dict[TopicPartition, int], origin: Origin
) -> str:
    """Return a sentence that names the stage that has not processed the page yet."""
    place = TopicPartition(settings.topic("documents"), origin.partition)
    now = await client.end_offsets([place])
    async for record in read_records(client, {place: (ends[place], now[place])}, also_unread=True):
        if header(record.headers, ORIGIN) == str(origin):
            return await _waits(settings, "extract", "documents", record)
    return await _waits(settings, "normalize", "raw-html", origin)


async def _waits(settings: Settings, stage: str, topic: str, at: Origin | ConsumerRecord) -> str:
    """Return a sentence with the committed offset of a stage and the number of its workers."""
    done = (await committed_offsets(settings, stage, topic)).get(at.partition, 0)
    if done > at.offset:
        return f"{stage} has processed the page, but no output came in time; check its log"
    running = await count_workers(settings, stage)
    return (
        f"{stage} has not processed the page yet: it is offset {at.offset} in partition "
        f"{at.partition} of {topic}, the committed offset is {max(done, 0)}, and {running} "
        "worker(s) of the stage are running"
    )
