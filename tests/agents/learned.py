"""Helpers to publish pages of a few sites, and to read the rows that a job stores for them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import yaml

from agents.kafka.client import consumer, full_ranges, partitions, producer, read_records
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from agents.settings.topics_file import declared_topics
from models import raw_html
from tests.agents.records import Sent
from urltree.page import Page

TABLES = ("normalize-seen", "extract-rows", "extract-first")
SITES = [f"site-{number}.example" for number in range(5)]

Rows = dict[tuple[str, bytes], bytes]  # value of each row by table and key


def page(site: str, number: int | str) -> Sent:
    """Return the record of a page of a site."""
    html = f"<p>Menu of {site}</p><h1>Page {number}</h1><p>What page {number} of {site} says.</p>"
    value = raw_html.encode(Page(url=f"https://{site}/{number}", html=html))
    return Sent("raw-html", site.encode(), value)


def pages(*numbers: int) -> list[Sent]:
    """Return one page of each site for each number."""
    return [page(site, number) for number in numbers for site in SITES]


def rows(job: Settings) -> Rows:
    """Return the live rows in the changelogs of a job's tables."""
    found = {
        (name, record.key): record.value
        for name in TABLES
        for record in records(job, f"urltree-{name}-changelog")
    }
    return {place: value for place, value in found.items() if value is not None}


def values(job: Settings, topic: str) -> list[Any]:
    """Return the decoded values of a topic whose records are JSON."""
    return [orjson.loads(record.value) for record in records(job, topic)]


def records(job: Settings, topic: str) -> list[Any]:
    """Return all records of a topic."""

    async def found() -> list[Any]:
        async with consumer(job) as client:
            ranges = await full_ranges(client, await partitions(client, job.topic(topic)))
            return [record async for record in read_records(client, ranges)]

    return asyncio.run(found())


def send(job: Settings, published: list[Sent]) -> None:
    """Publish records to a job, each to the partition of its key."""

    async def sent() -> None:
        count = declared_topics(job)[0].partitions
        async with producer(job) as client:
            for topic, key, value, headers, _ in published:
                at = partition_of(key or b"", count)
                await client.send_and_wait(job.topic(topic), value, key, at, headers=list(headers))

    asyncio.run(sent())


def declare(job: Settings, partitions: int, path: Path) -> Path:
    """Write a copy of topics.yaml with this number of partitions to `path`."""
    file = yaml.safe_load(job.topics_file.read_text())
    file["defaults"]["partitions"] = partitions
    path.write_text(yaml.safe_dump(file))
    return path
