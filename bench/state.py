"""Benchmark of state: the size of rows on disk and of trees in memory, for 1,000 documents.

Every page is processed by the algorithm without eviction. Its row is written as a worker writes it,
with the worker's options for RocksDB. Then the trees are built from the rows, as a worker does it.
"""

from __future__ import annotations

import gc
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.app import make_app, make_table
from agents.kafka.partitions import partition_of
from agents.kafka.tables.store import Store
from agents.kafka.tables.table import row_id, row_key, row_prefix
from agents.settings.job import Settings
from bench import resident
from bench.figure import Bar, Benchmark, Measurement
from bench.pages import Pages, html
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.html.tokenizer import tokenize
from urltree.page import Page
from urltree.site.site import Site

CEILING = 2.0  # highest allowed size of the rows of 1,000 documents, in MB
PAPER = 6.5  # size of the trees of 1,000 documents in the paper (section 7), in MB
PARTITIONS = 6
MB = 1_000_000


class StoredPages(NamedTuple):
    """Totals of the stored pages.

    Attributes:
        documents: number of documents by domain.
        html: total size of the HTML, in bytes.
        rows: total size of the rows and their keys before compression, in bytes.
    """

    documents: dict[str, int]
    html: int
    rows: int


def measure(pages: Pages, number: int) -> Benchmark:  # noqa: ARG001 - bytes are the same each time
    """Store the rows of all pages, compact the store, and build all trees from the rows."""
    with tempfile.TemporaryDirectory(prefix="urltree-bench-") as directory:
        store = _store(Path(directory))
        stored = _store_rows(pages, store)
        disk, live = _compact(store)
        trees, estimated = _trees(store, stored)
    count = sum(stored.documents.values())
    thousands = count / 1_000
    method = (
        f"{count:,} documents of {len(stored.documents)} domains ({pages.name}), mean HTML "
        f"{stored.html / count / 1_000:.1f} kB, without eviction"
    )
    unit = "MB / 1,000 documents"
    note = f"tracemalloc; paper: {PAPER}"
    figures = [
        Measurement(
            "rows on disk, compacted",
            disk / MB / thousands,
            unit,
            note=f"files of RocksDB, {PARTITIONS} partitions",
            bar=Bar(CEILING, is_floor=False),
        ),
        Measurement("live rows, as RocksDB estimates", live / MB / thousands, unit),
        Measurement("rows as written, keys included", stored.rows / MB / thousands, unit),
        Measurement("trees in memory", trees / MB / thousands, unit, note=note),
        Measurement("trees, as the worker estimates", estimated / MB / thousands, unit),
        *resident.measure_memory(pages),
    ]
    return Benchmark("State of `extract`", method, figures)


def _store(directory: Path) -> Store:
    settings = Settings.model_validate({"data_dir": directory})
    table = make_table(make_app(settings, "extract"), "rows")
    store: Store = table.data
    return store


def _store_rows(pages: Pages, store: Store) -> StoredPages:
    """Learn each page that is not a duplicate, and write its row."""
    scheme, learned, size = KeyScheme(), dict[str, Site](), 0
    ids: dict[str, int] = {}
    rows = 0
    for number, page in enumerate(pages):
        document = _document(page, scheme, number)
        domain = document.domain
        of = learned.setdefault(domain, Site(heuristic(DEFAULT), None))
        if document.key_bytes in of.tree:
            continue
        row = of.learn(document, None).row
        key = row_key(domain, document.key_bytes)
        store.put(partition_of(domain.encode(), PARTITIONS), key, row)
        ids[domain] = ids.get(domain, 0) + 1
        size += len(html(page))
        rows += len(key) + len(row)
    return StoredPages(ids, size, rows)


def _document(page: Page, scheme: KeyScheme, number: int) -> Document:
    key = scheme.key(page.final_url or "", lambda: page.title)
    partition = partition_of(key.domain.encode(), PARTITIONS)
    return Document.of(page, key, tokenize(page.html), f"raw-html/{partition}/{number}")


def _compact(store: Store) -> tuple[int, int]:
    """Compact the store, and return the bytes of its files and of the live data in the files."""
    disk = live = 0
    for partition in range(PARTITIONS):
        db = store._db_for_partition(partition)  # noqa: SLF001
        db.flush()
        db.compact_range(None, None)
        disk += db.property_int_value("rocksdb.live-sst-files-size") or 0
        live += db.property_int_value("rocksdb.estimate-live-data-size") or 0
    return disk, live


def _trees(store: Store, stored: StoredPages) -> tuple[int, int]:
    """Return the size of all trees in memory, and the size that a worker estimates, in bytes."""
    gc.collect()
    tracemalloc.start()
    trees = []
    for domain in stored.documents:
        learned = Site(heuristic(DEFAULT), None)
        learned.rebuild(_rows(store, domain))
        trees.append(learned)
    gc.collect()
    traced, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return traced, sum(learned.memory for learned in trees)


def _rows(store: Store, domain: str) -> Iterator[tuple[bytes, bytes]]:
    partition = partition_of(domain.encode(), PARTITIONS)
    return ((row_id(key), row) for key, row in store.scan(partition, row_prefix(domain)))
