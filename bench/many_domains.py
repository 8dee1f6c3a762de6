"""100,000 domains: a worker's memory, cold rebuilds, bytes on disk and in Kafka, idle domains.

    python -m bench.many_domains --documents 300000 --domains 100000

Compact documents of ten simulated days go through a real worker of `extract`. Every domain has at
least one document; the others follow a Zipf distribution. The window is three days and at least 20
documents, so that busy domains evict. Then the worker is stopped, and its tables and changelogs are
measured after compaction.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from statistics import fmean, median, quantiles
from tempfile import gettempdir

import click
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from agents.app import make_app, make_table
from agents.kafka.client import admin, producer
from agents.kafka.partitions import partition_of
from agents.kafka.tables.store import Store
from agents.kafka.tables.table import row_id, row_key, row_prefix
from agents.settings.job import Settings
from bench.broker import running_broker
from bench.compact_pages import CompactSites, time_at
from bench.resident import IN_FLIGHT, ROCKSDB, TREES
from bench.workers import MB, MeasuredJob, Message, job
from models import document as documents
from models import raw_html
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.page import microseconds
from urltree.pipeline import Options, Pipeline
from urltree.site.row import Row
from urltree.site.seen import Seen
from urltree.tree.window import DAY

DAYS = 10.0
MAX_AGE_DAYS = 3
WINDOW = {"max_age_days": MAX_AGE_DAYS, "keep": 20, "trees_bytes": TREES}
TABLES = 2  # `rows` and `first`, each with caches and buffers of its own
BATCH = 1_000  # documents published at once
WAITING = 5_000  # documents that wait at most, so that memory is that of a steady stream
SAMPLE = 2_000  # domains whose trees are rebuilt
PARTITIONS = 6
CLEANING = 180.0  # seconds to wait at most until Kafka has compacted the changelogs
_CLEAN_NOW = {
    "cleanup.policy": "compact",
    "max.message.bytes": "20971520",
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "1000",
    "max.compaction.lag.ms": "1000",
}

_SCHEME = KeyScheme()


@click.command()
@click.option("--documents", "number", type=click.IntRange(1), default=300_000, show_default=True)
@click.option("--domains", type=click.IntRange(1), default=100_000, show_default=True)
@click.option(
    "--seconds", type=float, default=7_200.0, help="Time after which no more is published."
)
def main(*, number: int, domains: int, seconds: float) -> None:
    """Publish documents of many domains, and print what they cost."""
    with running_broker() as broker:
        asyncio.run(_run(broker.address, number, domains, seconds))


class Stream:
    """The documents of ten days, in the order of their times.

    Attributes:
        ranks: ranks of the domains of all documents.
        size: bytes of the records so far.
        seen: bytes of the rows that `normalize` would store in the table `seen`, keys included.
        count: number of documents so far.
    """

    def __init__(self, number: int, domains: int) -> None:
        self._sites = CompactSites(domains)
        more = self._sites.ranks(max(0, number - domains))
        self.ranks = [*range(domains)][:number] + more
        Random(1).shuffle(self.ranks)
        self.size = self.seen = self.count = 0
        self._pipeline = Pipeline(Options())

    async def take(self, number: int) -> AsyncIterator[Message]:
        """Return the next documents as records of the topic documents."""
        for rank in self.ranks[self.count : self.count + number]:
            time_ = time_at(DAYS * self.count / len(self.ranks))
            page = raw_html.decode(self._sites.page(self.count, rank, time_).message.value)
            partition = partition_of(f"site{rank}.example".encode(), PARTITIONS)
            origin = f"raw-html/{partition}/{self.count}"
            document = self._pipeline.document(page, origin, _SCHEME)
            value = documents.encode(document)
            self.count += 1
            self.size += len(value)
            self.seen += _seen_bytes(document)
            yield Message(document.domain, value)


def _seen_bytes(document: Document) -> int:
    at = microseconds(document.fetched_at or "")
    url = document.url or ""
    stored = Seen.of(document.origin, at, url, url, document.url_key).encode()
    return len(row_key(document.domain, document.key_bytes)) + len(stored)


async def _run(brokers: str, number: int, domains: int, seconds: float) -> None:
    stream = Stream(number, domains)
    async with job(brokers, ("extract",), settings=WINDOW) as running_job:
        worker = running_job.workers["extract"]
        start, before = time.monotonic(), worker.cpu()
        while stream.count < len(stream.ranks) and time.monotonic() - start < seconds:
            await running_job.publish("documents", stream.take(BATCH))
            await worker.reach("urltree_documents_total", stream.count - WAITING)
            if stream.count % (5 * BATCH) == 0:
                print(
                    f"{time.monotonic() - start:6.0f} s {stream.count:,} documents, "
                    f"{(worker.resident() - worker.idle) / MB:.0f} MB above idle",
                    flush=True,
                )
        await running_job.wait_through()
        met = Counter(stream.ranks[: stream.count])
        print(
            f"{stream.count:,} documents of {len(met):,} domains, {DAYS:g} days, mean record "
            f"{stream.size / stream.count / 1e3:.2f} kB; busiest domain {max(met.values()):,}, "
            f"{sum(n < 20 for n in met.values()):,} domains with fewer than 20 documents"
        )
        print(
            f"CPU of the worker: {(worker.cpu() - before) / stream.count * 1e3:.2f} ms a document"
        )
        bound, above = TREES + IN_FLIGHT + TABLES * ROCKSDB, worker.peak - worker.idle
        print(
            f"resident above idle ({worker.idle / MB:.0f} MB): {above / MB:.0f} MB, the sum is "
            f"{bound / MB:.0f} MB, or {(bound - ROCKSDB) / MB:.0f} MB without the table `first`: "
            f"{'holds' if above <= 1.1 * bound else 'MISSED'}; "
            f"{worker.metric('urltree_domains'):,.0f} domains in memory, "
            f"{worker.metric('urltree_rebuilds_total'):,.0f} rebuilds, "
            f"{worker.metric('urltree_evicted_total'):,.0f} rows evicted"
        )
        worker.stop()
        await _changelogs(running_job)
        _disk(running_job, stream)


async def _changelogs(running_job: MeasuredJob) -> None:
    """Print the bytes of the changelogs before and after compaction by the embedded broker."""
    names = {
        table: running_job.settings.topic(f"urltree-extract-{table}-changelog")
        for table in ("rows", "first")
    }
    before = {table: _log_bytes(name) for table, name in names.items()}
    resources = [
        ConfigResource(ConfigResourceType.TOPIC, name, _CLEAN_NOW) for name in names.values()
    ]
    async with admin(running_job.settings) as client:
        await client.alter_configs(resources)
    await asyncio.sleep(2)
    async with producer(running_job.settings) as client:  # Kafka never compacts the last segment
        for name in names.values():
            for partition in range(PARTITIONS):
                await client.send_and_wait(name, None, b"\0end", partition)
    deadline, last, since = time.monotonic() + CLEANING, before, time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < 60:
        await asyncio.sleep(5)
        now = {table: _log_bytes(name) for table, name in names.items()}
        if now != last:
            last, since = now, time.monotonic()
    for table, size in last.items():
        print(f"changelog of {table}: {before[table] / MB:.1f} MB, compacted {size / MB:.1f} MB")


def _log_bytes(topic: str) -> int:
    """Return the bytes of a topic's segments in the embedded broker's directory."""
    files = Path(gettempdir()).glob(f"urltree-kafka-*/data/{topic}-*/*.log")
    return sum(file.stat().st_size for file in files if file.exists())


def _disk(running_job: MeasuredJob, stream: Stream) -> None:
    """Print the bytes of the tables after compaction, the times of rebuilds, and idle rows."""
    disk = next(running_job.directory.glob("*/extract"))
    settings = Settings.model_validate({
        "data_dir": disk, "prefix": running_job.settings.prefix, **WINDOW,
    })  # fmt: skip
    app = make_app(settings, "extract")
    for name in ("rows", "first"):
        store: Store = make_table(app, name).data
        stored, raw, size = _compacted(store)
        print(
            f"table {name}: {stored:,} rows, {raw / MB:.1f} MB as written, {size / MB:.1f} MB on "
            f"disk after compaction: {size / MB / max(stored, 1) * 1e3:.2f} MB for 1,000 rows"
        )
        if name == "rows":
            _idle(store, stream)
            _rebuilds(store, settings, stream)
    count = stream.count
    print(f"table seen: {count:,} rows, {stream.seen / MB:.1f} MB as written (computed)")


def _compacted(store: Store) -> tuple[int, int, int]:
    stored = raw = size = 0
    for partition in range(PARTITIONS):
        db = store._db_for_partition(partition)  # noqa: SLF001
        db.flush()
        db.compact_range(None, None)
        size += db.property_int_value("rocksdb.live-sst-files-size") or 0
        for key, value in store.scan(partition, b""):
            stored += 1
            raw += len(key) + len(value)
    return stored, raw, size


def _idle(store: Store, stream: Stream) -> None:
    """Print how many rows are older than the window allows, because their domain is idle."""
    newest = microseconds(time_at(DAYS * stream.count / len(stream.ranks)).isoformat())
    limit = newest - MAX_AGE_DAYS * DAY
    rows = old = old_bytes = 0
    domains: set[bytes] = set()
    for partition in range(PARTITIONS):
        for key, value in store.scan(partition, b""):
            rows += 1
            if Row.decode(value).time < limit:
                old += 1
                old_bytes += len(key) + len(value)
                domains.add(key.partition(b"\0")[0])
    print(
        f"rows older than {MAX_AGE_DAYS} days before the newest document: {old:,} of {rows:,} "
        f"({old / max(rows, 1):.0%}), {old_bytes / MB:.1f} MB, in {len(domains):,} domains"
    )


def _rebuilds(store: Store, settings: Settings, stream: Stream) -> None:
    """Print the CPU time to rebuild the trees of domains that are not in memory."""
    pipeline = Pipeline(settings.pipeline)
    by_document = stream.ranks[: stream.count]
    for name, ranks in (
        ("domain, drawn by document", Random(2).sample(by_document, min(SAMPLE, len(by_document)))),
        ("the busiest 20 domains", [rank for rank, _ in Counter(by_document).most_common(20)]),
    ):
        times, sizes = [], []
        for rank in ranks:
            before = time.thread_time()
            site = pipeline.new_site()
            site.rebuild(_rows(store, f"site{rank}.example"))
            times.append((time.thread_time() - before) * 1e3)
            sizes.append(site.memory)
        print(
            f"cold rebuild, {name}: median {median(times):.2f} ms, p99 "
            f"{quantiles(times, n=100)[98]:.2f} ms, largest {max(times):.1f} ms; mean tree "
            f"{fmean(sizes) / 1e3:.1f} kB"
        )


def _rows(store: Store, domain: str) -> Iterator[tuple[bytes, bytes]]:
    partition = partition_of(domain.encode(), PARTITIONS)
    return ((row_id(key), row) for key, row in store.scan(partition, row_prefix(domain)))


if __name__ == "__main__":
    main()
