"""Read the state of a job from disks and changelogs, and compare it with a plain recount."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rocksdict import AccessType, Options, Rdict

from agents.kafka.tables.table import row_id, row_key
from models import document as documents
from tests.job.harness import Job, Worker
from tests.job.kafka_records import PARTITIONS
from tests.urltree.builders import nodes
from tests.urltree.path_recount import of_rows, sums
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.site.row import Row
from urltree.site.site import Site
from urltree.tree.window import REFERENCE, Eviction

Rows = dict[int, dict[bytes, bytes]]  # by partition, then by key
Branch = tuple[str, ...]

STAGE_OF = {
    "feed_state": "poll",
    "seen_items": "poll",
    "host_state": "fetch",
    "seen": "normalize",
    "rows": "extract",
    "first": "extract",
}

_FAUST = b"__faust"  # start of the key under which Faust stores the persisted offset


def partition_on_disk(disk: Path, table: str, partition: int) -> dict[bytes, bytes]:
    """Return the rows of one partition on a worker's disk; the worker need not be running."""
    found = list(disk.glob(f"**/{table}-{partition}.db"))
    if not found:
        return {}
    db = Rdict(str(found[0]), Options(raw_mode=True), access_type=AccessType.read_only())
    try:
        return {key: value for key, value in db.items() if not key.startswith(_FAUST)}
    finally:
        db.close()


def on_disk(worker: Worker, table: str) -> Rows:
    """Return the rows on the disk of a worker."""
    return {p: partition_on_disk(worker.disk, table, p) for p in range(PARTITIONS)}


def in_changelog(job: Job, table: str) -> Rows:
    """Return the rows that a table has after a restore from all records of its changelog."""
    rows: Rows = {partition: {} for partition in range(PARTITIONS)}
    for record in job.read(f"urltree-{STAGE_OF[table]}-{table}-changelog"):
        assert record.key is not None
        if record.value is None:
            rows[record.partition].pop(record.key, None)
        else:
            rows[record.partition][record.key] = record.value
    return rows


def ever_in_changelog(job: Job) -> Rows:
    """Return the last row of every document that was ever learned, including evicted documents."""
    rows: Rows = {partition: {} for partition in range(PARTITIONS)}
    for record in job.read("urltree-extract-rows-changelog"):
        if record.key is not None and record.value is not None:
            rows[record.partition][record.key] = record.value
    return rows


def evicted(job: Job) -> set[bytes]:
    """Return the keys of documents that were evicted from their window at any time."""
    records = job.read("urltree-extract-rows-changelog")
    return {record.key for record in records if record.key is not None and record.value is None}


def count(rows: Rows) -> int:
    """Return the number of rows in all partitions."""
    return sum(map(len, rows.values()))


def differing(some: Rows, others: Rows) -> list[bytes]:
    """Return the keys whose rows differ, or that exist on only one side."""
    return [
        key
        for partition in range(PARTITIONS)
        for key in {**some[partition], **others[partition]}
        if some[partition].get(key) != others[partition].get(key)
    ]


class Trees(NamedTuple):
    """Result of a comparison in which all trees of a job equalled their recount.

    Attributes:
        number: number of trees.
        left_behind: number of rows outside their window, which the rebuild finds. A worker that
            had lost its partition wrote them late, after the tombstones of the next worker.
    """

    number: int
    left_behind: int


def assert_trees_equal_recount(job: Job, rows: Rows, eviction: Eviction | None) -> Trees:
    """Assert that every tree made from rows has the nodes that plain Counters give.

    The documents come from their topic, and their times from all records of the changelog. The
    window is computed again from its definition. Only two decisions of `extract` are taken from the
    rows: which pages are listings, and what each page contributes to the path statistics.
    """
    by_key, number, left_behind = {}, 0, 0
    for record in job.read("documents"):
        document = documents.decode(record.value)
        by_key[row_key(document.domain, document.key_bytes)] = document
    ever = ever_in_changelog(job)
    for partition in range(PARTITIONS):
        wanted: dict[bytes, dict[bytes, int]] = defaultdict(dict)
        for key, stored in ever[partition].items():
            wanted[key[:-16]][key] = Row.decode(stored).time
        for domain, times in wanted.items():
            window = _window(times, eviction)
            kept = {key: row for key, row in rows[partition].items() if key[:-16] == domain}
            assert window <= kept.keys(), f"{domain!r}: rows of the window are missing"
            learned = Site(heuristic("strict"), eviction)
            stale = learned.rebuild((row_id(key), row) for key, row in kept.items())
            outside = {row_id(key) for key in kept.keys() - window}
            assert set(stale) == outside, f"{domain!r}: the rebuild does not enforce the window"
            inside = {key: Row.decode(kept[key]) for key in window}
            recounted = _recount(by_key[key] for key, row in inside.items() if not row.left_out)
            assert nodes(learned.tree.root) == recounted, f"{domain!r}: the tree is not its recount"
            paths = of_rows(row.paths for row in inside.values())
            assert sums(learned.paths) == paths, f"{domain!r}: the paths are not their recount"
            number += 1
            left_behind += len(stale)
    return Trees(number, left_behind)


def _window(times: Mapping[bytes, int], eviction: Eviction | None) -> set[bytes]:
    """Return the keys in the window of a domain, computed directly from the window's definition."""
    newest_first = sorted(times, key=lambda key: (times[key], key), reverse=True)
    if eviction is None or len(times) <= eviction.keep:
        return set(times)
    oldest = times[newest_first[REFERENCE - 1]] - eviction.max_age
    return {
        key
        for rank, key in enumerate(newest_first)
        if rank < eviction.keep or (rank < eviction.max_documents and times[key] >= oldest)
    }


def _recount(known: Iterable[Document]) -> dict[Branch, tuple[int, dict[int, int]]]:
    """Return support and block counts of every node, counted with plain Counters."""
    supports: Counter[Branch] = Counter({(): 0})
    counts: dict[Branch, Counter[int]] = {(): Counter()}
    for document in known:
        hashes = {block.hash for block in document.blocks}
        for depth in range(len(document.branch) + 1):
            node = document.branch[:depth]
            supports[node] += 1
            counts.setdefault(node, Counter()).update(hashes)
    return {node: (supports[node], dict(counts[node])) for node in counts}
