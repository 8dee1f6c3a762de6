"""Stage normalize: a page becomes a document, a duplicate, or a dead letter.

    raw-html ──▶ decode ──▶ admit ──▶ right partition? ──▶ prepare ──▶ documents
                  │         │            └▶ raw-html, re-keyed  └▶ duplicates
                  └─────────┴▶ dead-letters

Its records are keyed by domain. The stage only moves data; `urltree.pipeline` makes the decisions.
Only a page that becomes a document gets a row in the table `seen`. Therefore a page that became a
dead letter counts as new when it is corrected and replayed.
"""

from __future__ import annotations

from collections.abc import Sequence

from faust.types.tuples import Message

from agents.app import make_table
from agents.document_stage import DocumentStage
from agents.forgetting import HEADERS
from agents.incoming import arrived, is_in_place
from agents.kafka.delivery import OnFailure, Work
from agents.kafka.partitions import RoutedKey
from agents.kafka.tables.table import row_key
from agents.seen import SeenSites
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import document as documents
from models import duplicate as duplicates
from models import raw_html
from models.command import Forget
from models.headers import names
from models.headers.names import header
from models.origin import Origin
from urltree.page import Page, PageError, Reason
from urltree.pipeline import Pipeline, Prepared
from urltree.site.deduplication import Arrival, Duplicate


class Normalize(DocumentStage):
    """The stage from raw-html to documents."""

    name = "normalize"
    reads = ("raw-html",)

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        super().__init__(settings, on_failure)
        self.table = make_table(self.app, "seen")
        self.schemes = Schemes(settings)
        self.sites = SeenSites(self.table, settings.horizons, self.metrics, self.forgotten)
        self._pipeline = Pipeline(settings.pipeline, max_page_bytes=settings.max_page_bytes)
        self.metrics.gauge("domains", "Domains in memory.", lambda: len(self.sites))

    async def take(self, message: Message, origin: str, work: Work) -> None:
        """Decide what a page becomes, and send it to the topic of that outcome."""
        page = raw_html.decode(message.value, message.headers)
        self._pipeline.admit(page)
        schemes = self.schemes.of(page)
        domain = schemes[0].domain(page.final_url or "")
        if not await self._is_in_place(message, origin, domain, work):
            return
        partition = message.partition
        seen = await self.sites.get(partition, domain, work)
        prepared = self._pipeline.prepare(page, origin, schemes, seen)
        found = prepared.key if isinstance(prepared, Duplicate) else prepared.document
        if await self.forgotten.covers(message, origin, domain, [found.id]):
            self.metrics.forgotten.inc()
        elif isinstance(prepared, Duplicate):
            await self._report(page, origin, prepared, work)
        else:
            await self._forward(prepared, partition, work)
            if prepared.arrival is Arrival.NEW:
                await self.sites.add(partition, domain, prepared.seen.time, work)

    async def complete(self, forget: Forget, message: Message) -> Forget:
        """Return a command with offsets of the present topic raw-html."""
        place = Origin(message.topic, message.partition, message.offset)
        return await self.forgotten.complete(forget, place)

    def identify(self, message: Message) -> tuple[str, Sequence[str]]:
        """Return the domain and the ids of an invalid page, as far as they can be read."""
        try:
            keys = self.schemes.keys(raw_html.decode(message.value, message.headers))
        except PageError:
            return (message.key or b"").decode(errors="replace"), ()
        return keys[0].domain, [key.id for key in keys]

    async def obey(self, forget: Forget, partition: int, origin: str, work: Work) -> None:
        """Delete the `seen` records of a page or a domain, and send the command to `extract`."""
        keys = await self.forget_rows(self.table, partition, forget, work)
        self.metrics.evicted.inc(len(keys))
        headers = [*HEADERS, (names.ORIGIN, origin.encode())]
        to = RoutedKey(partition, forget.domain.encode())
        await self.send(work, "documents", to, forget.encode(), headers)

    def drop(self, partition: int, domain: str) -> None:
        """Drop the horizon of a site from memory; `agents.seen` reads it again when needed."""
        self.sites.drop(partition, domain)

    def clear(self) -> None:
        """Drop the horizons of all sites; `agents.seen` reads them again when they are needed."""
        self.sites.clear()

    async def _is_in_place(self, message: Message, origin: str, domain: str, work: Work) -> bool:
        """Return whether a record is in the partition of its domain; if not, send it there."""
        if is_in_place(message, domain, self.partitions):
            return True
        if header(message.headers, names.REKEYED) is not None:
            raise PageError(
                Reason.MISPLACED,
                f"{domain}: the record was re-keyed once and is still in the wrong partition; "
                "compare the number of partitions in Kafka with topics.yaml",
            )
        again = (names.ORIGIN, names.ARRIVED)
        kept = [(name, value) for name, value in message.headers or () if name not in again]
        ours = [(names.ORIGIN, origin.encode()), (names.REKEYED, b"1"), *arrived(message)]
        await self.send(work, "raw-html", self.key(domain), message.value, [*kept, *ours])
        self.metrics.rekeyed.inc()
        return False

    async def _forward(self, prepared: Prepared, partition: int, work: Work) -> None:
        document = prepared.document
        value = documents.encode(document)
        self.check_size("documents", value)
        headers = [(names.ORIGIN, document.origin.encode()), *arrived(work.message)]
        await self.send(
            work, "documents", RoutedKey(partition, document.domain.encode()), value, headers
        )
        stored = await self.table.put(
            partition, row_key(document.domain, document.key_bytes), prepared.seen.encode()
        )
        work.wait_for(stored)
        self.metrics.documents.inc()
        if prepared.arrival is Arrival.REPLAY:
            self.metrics.replays.inc()
        elif prepared.arrival is Arrival.REVISIT:
            self.metrics.revisits.inc()

    async def _report(self, page: Page, origin: str, found: Duplicate, work: Work) -> None:
        urls = duplicates.Urls(page.url, page.final_url or "", found.key.canonical, found.key.key)
        value = duplicates.encode(
            duplicates.DuplicateRecord(origin, found.first_origin, found.key.id, found.step, urls)
        )
        await self.send(work, "duplicates", self.key(origin), value)
        self.metrics.duplicates.labels(found.step).inc()
