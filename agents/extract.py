"""Stage extract: a document becomes clean text. Its records are keyed by domain.

    documents ──▶ decode ──▶ sizes ──▶ learn: insert, judge ──▶ row ──▶ clean-text
                               │         ▲                      ├▶ tombstones of evicted rows
                               │         │                      └▶ first pages, judged again at 20
                               │         └── tree in memory, rebuilt from the rows if absent
                               └▶ duplicates: the stored row is of a later version

The stage only moves data; `urltree.pipeline` makes the decisions. The first pages of a site are
judged a second time when the site has 20 documents.

A row is stored for every document, even if the document is a replay. After kill -9, RocksDB may be
ahead of the changelog. A row that is then not stored again would be missing when the partition
moves to another worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from time import time

from faust.types.tuples import Message

from agents.app import make_table
from agents.document_stage import DocumentStage
from agents.forgetting import tombstones
from agents.incoming import arrival_of
from agents.kafka.delivery import OnFailure, Work
from agents.kafka.partitions import RoutedKey
from agents.kafka.tables.table import Confirmed, ConfirmedTable, row_id, row_key, row_prefix
from agents.memory import Memory
from agents.settings.job import Settings
from agents.stage import OURS
from agents.telemetry.logs import log
from models import clean_text as clean_texts
from models import document as documents
from models import duplicate as duplicates
from models.command import Forget
from models.duplicate import DuplicateRecord
from urltree.document import Document
from urltree.heuristics.protocol import Verdict
from urltree.page import PageError, Reason
from urltree.pipeline import Pipeline, Superseded
from urltree.site.packed_document import unpack
from urltree.site.row import Row
from urltree.site.site import Relation, Site

_MAX_BRANCH_BYTES = 65_535  # a row stores the length of the branch in two bytes


class TableRows:
    """Rows and first pages of one site, which the pipeline reads from this worker's tables."""

    def __init__(
        self, rows: ConfirmedTable, first: ConfirmedTable, partition: int, domain: str
    ) -> None:
        self._rows = rows
        self._first = first
        self._partition = partition
        self._domain = domain

    def row(self, document_id: bytes) -> bytes | None:
        """Return the encoded row of a document, or None if the document has no row."""
        return self._rows.get(self._partition, row_key(self._domain, document_id))

    def rows(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the document id and the encoded row of each document of the site."""
        rows = self._rows.scan(self._partition, row_prefix(self._domain))
        return ((row_id(key), row) for key, row in rows)

    def first_page(self, document_id: bytes) -> bytes | None:
        """Return the stored bytes of a first page, or None if the page is not stored."""
        return self._first.get(self._partition, row_key(self._domain, document_id))

    def first_pages(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the document id and the stored bytes of each first page of the site."""
        pages = self._first.scan(self._partition, row_prefix(self._domain))
        return ((row_id(key), packed) for key, packed in pages)


class Extract(DocumentStage):
    """The stage from documents to clean-text."""

    name = "extract"
    reads = ("documents",)

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        super().__init__(settings, on_failure)
        self.table = make_table(self.app, "rows")
        self.first = make_table(self.app, "first")
        self._pipeline = Pipeline(settings.pipeline, settings.blocks)
        self._sites: Memory[Site] = Memory(settings.trees_bytes, lambda site: site.memory)
        self.metrics.gauge("domains", "Domains in memory.", lambda: len(self._sites))
        self.metrics.gauge(
            "memory_bytes", "Estimated size of the trees in memory.", lambda: self._sites.size
        )

    async def take(self, message: Message, origin: str, work: Work) -> None:
        """Learn a document, store its row, and publish its clean text."""
        document = documents.decode(message.value)
        partition, domain = message.partition, document.domain
        if await self.forgotten.covers(message, origin, domain, [document.id]):
            self.metrics.forgotten.inc()
            return
        self._check(document, message)
        store = TableRows(self.table, self.first, partition, domain)
        site = await self._site(partition, domain, store, work)
        learned = self._pipeline.learn(document, site, store)
        if isinstance(learned, Superseded):
            await self._report(DuplicateRecord.superseded(*learned), work)
            return
        key = row_key(domain, document.key_bytes)
        value = clean_texts.encode(self._pipeline.extraction(document, learned.verdict))
        work.wait_for(await self.table.put(partition, key, learned.row), len(learned.row))
        if learned.kept is not None:
            work.wait_for(await self.first.put(partition, key, learned.kept), len(learned.kept))
        sent = await self.send(
            work, "clean-text", RoutedKey(partition, document.id.encode()), value
        )
        await self._delete_rows(partition, domain, learned.evicted, work)
        await self._drop_first(partition, domain, learned.dropped, work)
        await self._revise(site, store, domain, work)
        self._sites.measure(partition, domain)
        self.metrics.learned(document, learned)
        if learned.relation is not Relation.REPLAY and (at := arrival_of(message)) is not None:
            sent.add_done_callback(partial(self._observe_page, at))

    def identify(self, message: Message) -> tuple[str, Sequence[str]]:
        """Return the domain and the id of an invalid document, as far as they can be read."""
        try:
            document = documents.decode(message.value)
        except PageError:
            return (message.key or b"").decode(errors="replace"), ()
        return document.domain, [document.id]

    async def obey(self, forget: Forget, partition: int, origin: str, work: Work) -> None:
        """Delete rows, and send tombstones for their clean text; the last one is the answer."""
        keys = await self.forget_rows(self.table, partition, forget, work)
        self.metrics.evicted.inc(len(keys))
        await self.forget_rows(self.first, partition, forget, work)
        for key in tombstones(keys, origin):
            await self.send(work, "clean-text", RoutedKey(partition, key), None)

    def drop(self, partition: int, domain: str) -> None:
        """Drop the tree of a site from memory; the site's next document rebuilds it from rows."""
        self._sites.drop(partition, domain)

    def clear(self) -> None:
        """Drop all trees from memory; the next document of a site rebuilds its tree from rows."""
        self._sites.clear()

    async def _site(self, partition: int, domain: str, store: TableRows, work: Work) -> Site:
        """Return the state of a site; if the state is not in memory, rebuild it from the rows."""
        site = self._sites.get(partition, domain)
        if site is None:
            await self._delete_forgotten(partition, domain, work)
            site, stale, dropped = self._pipeline.open_site(store)
            await self._delete_rows(partition, domain, stale, work)
            await self._drop_first(partition, domain, dropped, work)
            self._sites.add(partition, domain, site)
            self.metrics.rebuilds.inc()
        return site

    async def _delete_forgotten(self, partition: int, domain: str, work: Work) -> None:
        """Delete the rows and first pages of forgotten pages, which a restored dump may contain."""
        prefix = row_prefix(domain)
        rows = ((key, Row.decode(row).origin) for key, row in self.table.scan(partition, prefix))
        pages = ((key, unpack(page).origin) for key, page in self.first.scan(partition, prefix))
        for table, found in ((self.table, rows), (self.first, pages)):
            keys = await self.forgotten.of_rows(partition, domain, found)
            await self.delete(table, partition, keys, work)

    async def _revise(self, site: Site, store: TableRows, domain: str, work: Work) -> None:
        """Judge the first pages of a site again when they are due, then delete their stored bytes.

        The bytes are deleted only after Kafka has confirmed the new rows and texts. After a crash,
        first pages that are still stored are judged and published again.
        """
        partition, sent, revised = work.message.partition, list[Confirmed](), list[bytes]()
        for document_id in site.due():
            row, value = self._judge_again(document_id, site, store)
            revised.append(document_id)
            if row is not None:
                key = row_key(domain, document_id)
                sent.append(await self.table.put(partition, key, row))
                work.wait_for(sent[-1], len(row))
            if value is not None:
                to = RoutedKey(partition, document_id.hex().encode())
                sent.append(await self.send(work, "clean-text", to, value))
                self.metrics.revisions.inc()
        if revised:
            dropping = self._drop_revised(partition, domain, revised, sent, work)
            work.wait_for(asyncio.ensure_future(dropping))

    def _judge_again(
        self, document_id: bytes, site: Site, store: TableRows
    ) -> tuple[bytes | None, bytes | None]:
        """Judge a first page again; return its row to store and its record to publish.

        A page that cannot be judged or published again keeps its first verdict: an error that is
        raised here would stop all later pages of the site.
        """
        try:
            row, extraction = self._pipeline.revise(document_id, site, store)
            if extraction is None:
                return row, None
            value = clean_texts.encode(extraction)
            self.check_size("clean-text", value)
        except OURS:
            raise
        except Exception as error:  # noqa: BLE001 - one bad record never stops another
            log.error("first page could not be judged again", id=document_id.hex(), exc_info=error)
            site.first.drop(document_id)
            return None, None
        return row, value

    async def _drop_revised(
        self, partition: int, domain: str, ids: list[bytes], sent: list[Confirmed], work: Work
    ) -> None:
        """Delete revised first pages when Kafka has confirmed their rows and texts.

        Raises:
            CancelledError: the partition has moved to another worker, which judges the pages again.
        """
        answers = await asyncio.gather(*sent, return_exceptions=True)
        if any(isinstance(answer, BaseException) for answer in answers):
            return  # `work` waits for the same futures and reports the error
        if not await self.is_ours(work.message):
            raise asyncio.CancelledError
        await self._drop_first(partition, domain, ids, work)

    async def _drop_first(
        self, partition: int, domain: str, ids: Iterable[bytes], work: Work
    ) -> None:
        """Delete the stored bytes of first pages."""
        for document_id in ids:
            work.wait_for(await self.first.delete(partition, row_key(domain, document_id)))

    async def _delete_rows(
        self, partition: int, domain: str, ids: Iterable[bytes], work: Work
    ) -> None:
        """Delete the rows of documents."""
        keys = [row_key(domain, document_id) for document_id in ids]
        await self.delete(self.table, partition, keys, work)

    async def _report(self, found: DuplicateRecord, work: Work) -> None:
        """Publish a duplicate: a replayed page whose URL already has a row of a later version."""
        await self.send(work, "duplicates", self.key(found.origin), duplicates.encode(found))
        self.metrics.duplicates.labels(found.step).inc()

    def _check(self, document: Document, message: Message) -> None:
        """Refuse a document that is misplaced, or whose row or clean text would be too large.

        Raises:
            PageError: with the reason `misplaced` or `too-large`.
        """
        self.check_place(document.domain, message)
        branch = sum(len(name.encode()) + 1 for name in document.branch)
        row = 256 + branch + 13 * len(document.blocks)  # each block: hash, count and verdict bit
        if branch > _MAX_BRANCH_BYTES or row > self.settings.max_row_bytes:
            raise PageError(
                Reason.TOO_LARGE,
                f"row: it would have about {row} bytes, its branch {branch} bytes; the limits are "
                f"{self.settings.max_row_bytes} (setting max_row_bytes) and {_MAX_BRANCH_BYTES}",
            )
        # Largest ratio of the sizes of clean text and document: the field `blocks` repeats each
        # text beside field names, and Markdown indents each line of a nested list.
        growth = 32 if self.settings.markdown else 4
        if len(message.value or b"") * growth > self.settings.max_record_bytes:
            kept = (False,) * len(document.blocks)
            largest = Verdict(self._pipeline.heuristic.name, 1, 0, 0, kept, None)
            extraction = self._pipeline.extraction(document, largest)
            self.check_size("clean-text", clean_texts.encode(extraction))

    def _observe_page(self, arrived: float, sent: Confirmed) -> None:
        """Observe a page's latency, at least 0: the clock that stamped the page may be ahead."""
        if not sent.cancelled() and sent.exception() is None:
            self.metrics.page_seconds.observe(max(0.0, time() - arrived))
