"""The agent extract: a document becomes clean text. RoutedKey: domain.

    documents ──▶ decode ──▶ sizes ──▶ learn: insert, judge ──▶ row ──▶ clean-text
                               │         ▲                      ├▶ tombstones of evicted rows
                               │         │                      └▶ first pages, judged again at 20
                               │         └── tree in memory, rebuilt from the rows if absent
                               └▶ duplicates: the row belongs to a later version

The agent moves data; `urltree.pipeline` decides. A row is stored for every document, also for a
replay. After kill -9 RocksDB is ahead of the changelog, and a row that is not stored again would be
missing after the partition moves to another worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from time import time

from aiokafka.structs import RecordMetadata
from faust.types.tuples import Message

from agents.app import make_table
from agents.document_stage import DocumentStage
from agents.forgetting import keys_to_delete, tombstones
from agents.incoming import arrival_of
from agents.kafka.delivery import OnFailure, Work
from agents.kafka.partitions import RoutedKey
from agents.kafka.tables.table import ConfirmedTable, row_id, row_key, row_prefix
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
from urltree.site.site import Relation, Site

Confirmed = asyncio.Future[RecordMetadata]

_MAX_BRANCH_BYTES = 65_535  # a row stores the length of the branch in two bytes


class TableRows:
    """The rows and first pages of one site in the tables of this worker, for the pipeline."""

    def __init__(
        self, rows: ConfirmedTable, first: ConfirmedTable, partition: int, domain: str
    ) -> None:
        self._rows = rows
        self._first = first
        self._partition = partition
        self._domain = domain

    def row(self, document_id: bytes) -> bytes | None:
        """Return the encoded row of a document, None if there is none."""
        return self._rows.get(self._partition, row_key(self._domain, document_id))

    def rows(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the pairs of document id and encoded row."""
        rows = self._rows.scan(self._partition, row_prefix(self._domain))
        return ((row_id(key), row) for key, row in rows)

    def first_page(self, document_id: bytes) -> bytes | None:
        """Return the bytes of a first page, None if it is not stored."""
        return self._first.get(self._partition, row_key(self._domain, document_id))

    def first_pages(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the pairs of document id and bytes of a first page."""
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
        self.metrics.gauge("memory_bytes", "Their trees, estimated.", lambda: self._sites.size)

    async def take(self, message: Message, origin: str, work: Work) -> None:  # noqa: ARG002
        """Learn a document, store its row, and publish its clean text."""
        document = documents.decode(message.value)
        self._check(document, message)
        partition, domain = message.partition, document.domain
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

    async def obey(self, forget: Forget, partition: int, origin: str, work: Work) -> None:
        """Delete rows and clean text; the last tombstone is the answer to the command."""
        keys = keys_to_delete(self.table, partition, forget)
        await self.delete(self.table, partition, keys, work)
        kept = keys_to_delete(self.first, partition, forget)
        await self._drop_first(partition, forget.domain, map(row_id, kept), work)
        for key in tombstones(keys, origin):
            await self.send(work, "clean-text", RoutedKey(partition, key), None)

    def drop(self, partition: int, domain: str) -> None:
        """Drop the tree of a site; it is rebuilt from the rows."""
        self._sites.drop(partition, domain)

    def clear(self) -> None:
        """Drop all trees; they are rebuilt from the rows."""
        self._sites.clear()

    async def _site(self, partition: int, domain: str, store: TableRows, work: Work) -> Site:
        """Return a site in memory; rebuild it from its rows if it is absent."""
        site = self._sites.get(partition, domain)
        if site is None:
            site, stale, dropped = self._pipeline.open_site(store)
            await self._delete_rows(partition, domain, stale, work)
            await self._drop_first(partition, domain, dropped, work)
            self._sites.add(partition, domain, site)
            self.metrics.rebuilds.inc()
        return site

    async def _revise(self, site: Site, store: TableRows, domain: str, work: Work) -> None:
        """Judge the first pages of a site again when they are due, then delete them.

        They are deleted last, when Kafka has confirmed the rest. After a crash, pages that are
        still stored are judged and published again.
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
        """Return the row to store and the record to publish of a first page.

        A page that cannot be judged or published again keeps its first verdict. An error here would
        stop all later pages of its site.
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
            CancelledError: the partition has moved to another worker, which judges them again.
        """
        answers = await asyncio.gather(*sent, return_exceptions=True)
        if any(isinstance(answer, BaseException) for answer in answers):
            return  # the work has the same futures and reports the error
        if not await self.is_ours(work.message):
            raise asyncio.CancelledError
        await self._drop_first(partition, domain, ids, work)

    async def _drop_first(
        self, partition: int, domain: str, ids: Iterable[bytes], work: Work
    ) -> None:
        """Delete first pages."""
        for document_id in ids:
            work.wait_for(await self.first.delete(partition, row_key(domain, document_id)))

    async def _delete_rows(
        self, partition: int, domain: str, ids: Iterable[bytes], work: Work
    ) -> None:
        """Delete rows."""
        keys = [row_key(domain, document_id) for document_id in ids]
        await self.delete(self.table, partition, keys, work)

    async def _report(self, found: DuplicateRecord, work: Work) -> None:
        """Report a replay of a page whose later version is stored."""
        await self.send(work, "duplicates", self.key(found.origin), duplicates.encode(found))
        self.metrics.duplicates.labels(found.step).inc()

    def _check(self, document: Document, message: Message) -> None:
        """Refuse a document that could not be stored or published, before it is learned.

        Raises:
            PageError: `misplaced` or `too-large`.
        """
        self.check_place(document.domain, message)
        branch = sum(len(name.encode()) + 1 for name in document.branch)
        row = 256 + branch + 13 * len(document.blocks)  # hash, count and verdict bit of each block
        if branch > _MAX_BRANCH_BYTES or row > self.settings.max_row_bytes:
            raise PageError(
                Reason.TOO_LARGE,
                f"row: it would have about {row} bytes, its branch {branch} bytes; the limits are "
                f"{self.settings.max_row_bytes} (setting max_row_bytes) and {_MAX_BRANCH_BYTES}",
            )
        # A listed block repeats its text beside field names; in Markdown each line of a list is
        # indented.
        growth = 32 if self.settings.markdown else 4
        if len(message.value or b"") * growth > self.settings.max_record_bytes:
            kept = (False,) * len(document.blocks)
            largest = Verdict(self._pipeline.heuristic.name, 1, 0, 0, kept, None)
            extraction = self._pipeline.extraction(document, largest)
            self.check_size("clean-text", clean_texts.encode(extraction))

    def _observe_page(self, arrived: float, sent: Confirmed) -> None:
        """Observe the latency of a page; the clock of its first record may be ahead of ours."""
        if not sent.cancelled() and sent.exception() is None:
            self.metrics.page_seconds.observe(max(0.0, time() - arrived))
