"""extract: a document becomes clean text. Keyed by domain.

    documents ──▶ decode ──▶ sizes ──▶ learn: insert, judge ──▶ row ──▶ clean-text
                               │         ▲                      ├▶ tombstones of the evicted
                               │         │                      └▶ first pages, judged again at 20
                               │         └── tree in memory, made from the rows when cold
                               └▶ duplicates: its row is of a later version

Decides nothing: `urltree.site.site` does. A row is put for every document, also for a replay: after
kill -9 RocksDB is ahead of the changelog, and what is not put again would be missing after a move.
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
from agents.kafka.tables.table import row_id, row_key, row_prefix
from agents.memory import Memory
from agents.settings.job import Settings
from agents.stage import OURS
from agents.telemetry.logs import log
from models import clean_text as clean_texts
from models import document as documents
from models import duplicate as duplicates
from models.command import Forget
from models.duplicate import Duplicate
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.output.extraction import clean_text
from urltree.page import PageError, Reason
from urltree.site.first_pages import Revision
from urltree.site.lesson import Kind
from urltree.site.packed_document import unpack
from urltree.site.revisits import superseded_by
from urltree.site.row import Verdict
from urltree.site.site import LearnedDomain

Confirmed = asyncio.Future[RecordMetadata]

_MAX_BRANCH_BYTES = 65_535  # a row has two bytes for its length


class Extract(DocumentStage):
    """The stage from documents to clean-text."""

    name = "extract"
    reads = ("documents",)

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        super().__init__(settings, on_failure)
        self.table = make_table(self.app, "rows")
        self.first = make_table(self.app, "first")
        self._heuristic = heuristic(settings.heuristic)
        self._keeps_counts = settings.blocks != "none"
        self._trees: Memory[LearnedDomain] = Memory(
            settings.trees_bytes, lambda learned: learned.memory
        )
        self.metrics.gauge("domains", "Domains in memory.", lambda: len(self._trees))
        self.metrics.gauge("memory_bytes", "Their trees, estimated.", lambda: self._trees.size)

    async def take(self, message: Message, origin: str, work: Work) -> None:  # noqa: ARG002
        """Learn a document, put its row, publish its clean text."""
        document = documents.decode(message.value)
        self._check(document, message)
        partition, domain = message.partition, document.domain
        learned = await self._learned(partition, domain, work)
        key = row_key(domain, document.key_bytes)
        stored = self.table.get(partition, key)
        if (later := superseded_by(document, stored)) is not None:
            await self._report(Duplicate.superseded(document, later), work)
            return
        lesson = learned.learn(document, stored)
        value = self._clean_text(document, lesson.verdict)
        work.wait_for(await self.table.put(partition, key, lesson.row), len(lesson.row))
        if lesson.kept is not None:
            work.wait_for(await self.first.put(partition, key, lesson.kept), len(lesson.kept))
        said = await self.send(
            work, "clean-text", RoutedKey(partition, document.id.encode()), value
        )
        evicted = [row_key(domain, evicted) for evicted in lesson.evicted]
        await self.delete(self.table, partition, evicted, work)
        await self._drop_first(partition, domain, lesson.dropped, work)
        await self._revise(learned, domain, work)
        self._trees.measure(partition, domain)
        self.metrics.learned(document, lesson)
        if lesson.kind is not Kind.REPLAY and (arrived := arrival_of(message)) is not None:
            said.add_done_callback(partial(self._observe_page, arrived))

    async def obey(self, forget: Forget, partition: int, origin: str, work: Work) -> None:
        """Delete rows and clean text; the last tombstone is the answer."""
        keys = keys_to_delete(self.table, partition, forget)
        await self.delete(self.table, partition, keys, work)
        kept = keys_to_delete(self.first, partition, forget)
        await self._drop_first(partition, forget.domain, map(row_id, kept), work)
        for key in tombstones(keys, origin):
            await self.send(work, "clean-text", RoutedKey(partition, key), None)

    def drop(self, partition: int, domain: str) -> None:
        """A tree is made again from the rows."""
        self._trees.drop(partition, domain)

    def clear(self) -> None:
        """Trees are made again from the rows."""
        self._trees.clear()

    async def _learned(self, partition: int, domain: str, work: Work) -> LearnedDomain:
        """The tree of a domain; a cold one is made from its rows, within its window."""
        learned = self._trees.get(partition, domain)
        if learned is None:
            learned = LearnedDomain(
                self._heuristic,
                self.settings.eviction,
                keep_counts=self._keeps_counts,
                revise=self.settings.revise,
            )
            rows = self.table.scan(partition, row_prefix(domain))
            stale = learned.rebuild((row_id(key), row) for key, row in rows)
            keys = [row_key(domain, document_id) for document_id in stale]
            await self.delete(self.table, partition, keys, work)
            kept = self.first.scan(partition, row_prefix(domain))
            sizes = [(row_id(key), len(packed)) for key, packed in kept]
            dropped = learned.first.recall(sizes, learned.__contains__)
            await self._drop_first(partition, domain, dropped, work)
            self._trees.add(partition, domain, learned)
            self.metrics.rebuilds.inc()
        return learned

    async def _revise(self, learned: LearnedDomain, domain: str, work: Work) -> None:
        """Judge the first pages of a domain again once they are due; then drop them.

        Last of all, and not before Kafka has the rest: what is still kept is said again.
        """
        partition, said, revised = work.message.partition, list[Confirmed](), list[bytes]()
        for document_id in learned.first.due(len(learned.tree)):
            key = row_key(domain, document_id)
            revision, value = self._judge_again(learned, partition, key)
            revised.append(document_id)
            if revision is not None:
                said.append(await self.table.put(partition, key, revision.row))
                work.wait_for(said[-1], len(revision.row))
            if value is not None:
                to = RoutedKey(partition, document_id.hex().encode())
                said.append(await self.send(work, "clean-text", to, value))
                self.metrics.revisions.inc()
        if revised:
            dropping = self._drop_revised(partition, domain, revised, said, work)
            work.wait_for(asyncio.ensure_future(dropping))

    def _judge_again(
        self, learned: LearnedDomain, partition: int, key: bytes
    ) -> tuple[Revision | None, bytes | None]:
        """What is to be stored, and to be published of a first page.

        One that cannot be judged, or not be published, is left as it was: it would else stop all
        later pages of its domain.
        """
        packed = self.first.get(partition, key)
        try:
            if packed is None:
                raise LookupError("it is not kept")  # noqa: TRY301
            document = unpack(packed)
            revision = learned.first.revise(document, self.table.get(partition, key), learned.judge)
            if revision is None or revision.verdict is None:
                return revision, None
            value = self._clean_text(document, revision.verdict)
            self.check_size("clean-text", value)
        except OURS:
            raise
        except Exception as error:  # noqa: BLE001 - one bad record never stops another
            log.error("a first page cannot be revised", id=row_id(key).hex(), exc_info=error)
            learned.first.drop(row_id(key))
            return None, None
        return revision, value

    async def _drop_revised(
        self, partition: int, domain: str, ids: list[bytes], said: list[Confirmed], work: Work
    ) -> None:
        """Drop what was revised once Kafka has all that was said of it.

        Raises:
            CancelledError: the partition is another's by then, who says it again.
        """
        answers = await asyncio.gather(*said, return_exceptions=True)
        if any(isinstance(answer, BaseException) for answer in answers):
            return  # the work knows
        if not await self.is_ours(work.message):
            raise asyncio.CancelledError
        await self._drop_first(partition, domain, ids, work)

    async def _drop_first(
        self, partition: int, domain: str, ids: Iterable[bytes], work: Work
    ) -> None:
        """Keep documents no longer."""
        for document_id in ids:
            work.wait_for(await self.first.delete(partition, row_key(domain, document_id)))

    async def _report(self, found: Duplicate, work: Work) -> None:
        """A version whose place a later one has: a replay, which brings nothing back."""
        await self.send(work, "duplicates", self.key(found.origin), duplicates.encode(found))
        self.metrics.duplicates.labels(found.step).inc()

    def _check(self, document: Document, message: Message) -> None:
        """Refuse, before anything is learned, what could not be stored or published.

        Raises:
            PageError: `misplaced` or `too-large`.
        """
        self.check_place(document.domain, message)
        branch = sum(len(name.encode()) + 1 for name in document.branch)
        row = 256 + branch + 13 * len(document.blocks)  # hash, count and verdict bit of each block
        if branch > _MAX_BRANCH_BYTES or row > self.settings.max_row_bytes:
            raise PageError(Reason.TOO_LARGE, f"row: about {row} bytes, branch {branch}")
        # with all blocks listed a text stands twice, beside names of fields; in Markdown each line
        # of a list has its indentation
        growth = 32 if self.settings.markdown else 4
        if len(message.value or b"") * growth > self.settings.max_record_bytes:
            kept = (False,) * len(document.blocks)
            largest = Verdict(self._heuristic.name, 1, 0, 0, kept, None)
            self.check_size("clean-text", self._clean_text(document, largest))

    def _clean_text(self, document: Document, verdict: Verdict) -> bytes:
        said = self.settings
        return clean_texts.encode(
            clean_text(document, verdict, said.blocks, markdown=said.markdown)
        )

    def _observe_page(self, arrived: float, said: Confirmed) -> None:
        """A page counts once Kafka has its text; the clock that it came by may be ahead of ours."""
        if not said.cancelled() and said.exception() is None:
            self.metrics.page_seconds.observe(max(0.0, time() - arrived))
