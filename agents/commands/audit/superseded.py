"""Second check of missing pages: their clean text may have been replaced or deleted."""

from __future__ import annotations

from collections import defaultdict
from math import inf

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.commands.audit.forgotten import CarriedOut, MissingPage
from agents.commands.audit.ledger import AuditOutcome, Ledger
from agents.commands.terminal import show
from agents.kafka.client import (
    Ranges,
    full_ranges,
    offsets,
    partitions,
    read_records,
    trusted_headers,
)
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import clean_text, raw_html
from models.command import is_command
from models.origin import Origin
from urltree.page import PageError, microseconds
from urltree.site.revisits import is_older

_AT_MOST = 100_000  # largest number of checked pages; if more are missing, most are unprocessed


async def settle_replaced(settings: Settings, client: AIOKafkaConsumer, ledger: Ledger) -> None:
    """Settle missing pages whose clean text was superseded or forgotten."""
    missing = {origin for origin, _ in zip(ledger.missing(), range(_AT_MOST), strict=False)}
    commands = CarriedOut(settings.topic("raw-html"))
    by_id = await _pages_by_id(settings, client, missing, commands)
    if not by_id:
        return
    tombstones: set[bytes] = set()
    ranges = await full_ranges(client, await partitions(client, settings.topic("clean-text")))
    records = read_records(client, ranges, also_unread=True)
    async for record in show(records, "reading clean-text", offsets(ranges)):
        if record.value is None:
            tombstones.add(record.key)
        for page in by_id.get((record.key or b"").decode(errors="replace"), ()):
            if _is_superseded(page, record):
                ledger.settle(str(page.origin), AuditOutcome.SUPERSEDED)
    await commands.read_markers(settings, client)
    for document_id, pages in by_id.items():
        for page in pages:
            if commands.forgot(page, tombstones, document_id):
                ledger.settle(str(page.origin), AuditOutcome.FORGOTTEN)


async def _pages_by_id(
    settings: Settings, client: AIOKafkaConsumer, missing: set[Origin], commands: CarriedOut
) -> dict[str, list[MissingPage]]:
    """Return the missing pages by id, and add the commands after them to `commands`."""
    schemes = Schemes(settings)
    by_id: defaultdict[str, list[MissingPage]] = defaultdict(list)
    ranges = await _from_first(client, missing)
    records = read_records(client, ranges, also_unread=True)
    async for record in show(records, "reading pages", offsets(ranges)):
        headers = trusted_headers(settings.header_keys, record)
        if is_command(headers):
            commands.add(record, headers)
        elif Origin(record.topic, record.partition, record.offset) in missing:
            _add_page(record, schemes, by_id)
    return by_id


async def _from_first(client: AIOKafkaConsumer, missing: set[Origin]) -> Ranges:
    """Return the ranges from the first missing page of each partition to the partition's end."""
    first: dict[TopicPartition, int] = {}
    for topic, partition, offset in missing:
        at = TopicPartition(topic, partition)
        first[at] = min(first.get(at, offset), offset)
    ends = await client.end_offsets(list(first))
    return {at: (offset, ends[at]) for at, offset in first.items()}


def _add_page(
    record: ConsumerRecord, schemes: Schemes, by_id: defaultdict[str, list[MissingPage]]
) -> None:
    """Add a page under each id that its clean text may have; under "" if it cannot be read."""
    origin = Origin(record.topic, record.partition, record.offset)
    try:
        page = raw_html.decode(record.value, record.headers)
        keys = schemes.keys(page)
    except PageError:
        # It should have a dead letter, unless its domain was forgotten before it was read again.
        domain = (record.key or b"").decode(errors="replace")
        by_id[""].append(MissingPage(origin, domain, None))
        return
    for key in keys:
        by_id[key.id].append(MissingPage(origin, key.domain, page.time))


def _is_superseded(page: MissingPage, record: ConsumerRecord) -> bool:
    """Return whether a clean text with the page's id is that of a later page."""
    try:
        said = clean_text.decode(record.value)
        stamp = said.get("fetched_at") or said.get("published")
        time = -inf if stamp is None else microseconds(stamp)
        return is_older(str(page.origin), page.time, said["origin"], time)
    except (PageError, AttributeError, KeyError, TypeError, ValueError):
        return False
