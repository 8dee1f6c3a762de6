"""Second check of missing pages: their clean text may have been replaced or deleted."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.commands.audit.ledger import AuditOutcome, Ledger
from agents.commands.terminal import show
from agents.kafka.client import Ranges, full_ranges, offsets, partitions, read_records
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import clean_text, raw_html
from models.origin import Origin
from urltree.html.tokenizer import tokenize
from urltree.page import PageError, microseconds
from urltree.site.revisits import is_older

_AT_MOST = 100_000  # largest number of checked pages; if more are missing, most are unprocessed


class _Page(NamedTuple):
    """Missing page: its place, Kafka's timestamp, and its document time if it has one."""

    origin: Origin
    timestamp: int
    time: int | None


async def settle_replaced(settings: Settings, client: AIOKafkaConsumer, ledger: Ledger) -> None:
    """Settle missing pages whose clean text was superseded or forgotten."""
    missing = {origin for origin, _ in zip(ledger.missing(), range(_AT_MOST), strict=False)}
    schemes = Schemes(settings)
    by_id: defaultdict[bytes, list[_Page]] = defaultdict(list)
    around = _around(missing)
    records = read_records(client, around, also_unread=True)
    async for record in show(records, "reading pages", offsets(around)):
        origin = Origin(record.topic, record.partition, record.offset)
        if origin in missing:
            _add_page(record, schemes, by_id)
    if not by_id:
        return
    ranges = await full_ranges(client, await partitions(client, settings.topic("clean-text")))
    records = read_records(client, ranges, also_unread=True)
    async for record in show(records, "reading clean-text", offsets(ranges)):
        for page in by_id.get(record.key or b"", ()):
            outcome = _outcome(page, record)
            if outcome is not None:
                ledger.settle(str(page.origin), outcome)


def _around(missing: set[Origin]) -> Ranges:
    ranges: dict[TopicPartition, tuple[int, int]] = {}
    for topic, partition, offset in missing:
        at = TopicPartition(topic, partition)
        first, end = ranges.get(at, (offset, offset + 1))
        ranges[at] = (min(first, offset), max(end, offset + 1))
    return ranges


def _add_page(
    record: ConsumerRecord, schemes: Schemes, by_id: defaultdict[bytes, list[_Page]]
) -> None:
    """Add a page under each id that its clean text may have."""
    try:
        page = raw_html.decode(record.value, record.headers)

        def title() -> str | None:
            return page.title or tokenize(page.html, page.content_type).title

        keys = [scheme.key(page.final_url or "", title) for scheme in schemes.of(page)]
    except PageError:
        return  # an invalid page should have a dead letter; it stays missing
    origin = Origin(record.topic, record.partition, record.offset)
    for key in keys:
        by_id[key.id.encode()].append(_Page(origin, record.timestamp, page.time))


def _outcome(page: _Page, record: ConsumerRecord) -> AuditOutcome | None:
    """Return the outcome that a record of clean-text with the page's id proves, or None."""
    if record.value is None:
        return AuditOutcome.FORGOTTEN if record.timestamp >= page.timestamp else None
    try:
        said = clean_text.decode(record.value)
        stamp = said.get("fetched_at") or said.get("published")
        time = -inf if stamp is None else microseconds(stamp)
        is_later = is_older(str(page.origin), page.time, said["origin"], time)
    except (PageError, AttributeError, KeyError, TypeError, ValueError):
        return None
    return AuditOutcome.SUPERSEDED if is_later else None
