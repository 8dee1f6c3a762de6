"""Benchmark of the memory of real workers while they process whole sites.

Eviction is off and the limit for trees is low, so the trees of all sites do not fit into memory and
the least recently used trees are dropped. Sites are published one after another. If the pages of
many sites alternated, the worker would rebuild a tree for each page. Settings limit the memory of
trees, of records in work, and of each partition's cache and write buffers of RocksDB.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from bench.broker import running_broker
from bench.figure import Bar, Measurement
from bench.pages import Pages
from bench.workers import MB, MeasuredJob, Message, job
from models import raw_html
from urltree.address.url_key import KeyScheme
from urltree.page import Page

MIB = 1024 * 1024
TREES = 32 * MIB
IN_FLIGHT = 32 * MIB  # default of the setting in_flight_bytes
ROCKSDB = (
    6 * (16 + 2 * 8) * MIB
)  # partitions * (cache + two write buffers: one in use, one being written)


def measure_memory(pages: Pages) -> list[Measurement]:
    """Send all pages through two workers, and measure the memory of both workers."""
    with running_broker() as broker:
        return asyncio.run(_measure(broker.address, pages))


async def _measure(brokers: str, pages: Pages) -> list[Measurement]:
    more = {"trees_bytes": TREES, "evict": False, "commit_seconds": 0.5}
    count = 0
    async with job(brokers, settings=more) as running_job:
        for site in pages.sites:
            count += await running_job.publish("raw-html", _records(site))
            await running_job.wait_through()
        return _figures(running_job, count)


def _figures(running_job: MeasuredJob, count: int) -> list[Measurement]:
    extract, normalize = running_job.workers["extract"], running_job.workers["normalize"]
    bound = TREES + IN_FLIGHT + ROCKSDB
    rebuilds = extract.metric("urltree_rebuilds_total")
    return [
        Measurement(
            "`extract` resident, above idle",
            (extract.peak - extract.idle) / MB,
            "MB",
            note=f"peak over {count:,} pages; idle {extract.idle / MB:.0f} MB; trees bounded to "
            f"{TREES / MB:.1f} MB, records in work to {IN_FLIGHT / MB:.1f}, RocksDB to "
            f"{ROCKSDB / MB:.1f}",
            bar=Bar(round(bound / MB), is_floor=False),
        ),
        Measurement(
            "  its trees, as it estimates",
            extract.metric("urltree_memory_bytes") / MB,
            "MB",
            note=f"of {extract.metric('urltree_domains'):.0f} domains; {rebuilds:.0f} rebuilds",
            bar=Bar(round(TREES / MB, 1), is_floor=False),
        ),
        Measurement(
            "`normalize` resident, above idle",
            (normalize.peak - normalize.idle) / MB,
            "MB",
            note=f"idle {normalize.idle / MB:.0f} MB",
        ),
    ]


async def _records(site: Callable[[], Iterator[Page]]) -> AsyncIterator[Message]:
    for page in site():
        yield Message(_SCHEME.domain(page.final_url or ""), raw_html.encode(page))


_SCHEME = KeyScheme()
