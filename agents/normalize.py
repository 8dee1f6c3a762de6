"""normalize: a page becomes a document, a duplicate, or a dead letter. Keyed by domain.

    raw-html ──▶ decode ──▶ admit ──▶ where it belongs? ──▶ seen? ──▶ parse ──▶ documents
                  │           │         └▶ raw-html, re-keyed  └▶ duplicates
                  └───────────┴▶ dead-letters

Decides nothing: `urltree.site.deduplication` does. The table `seen` is written only when a
document is forwarded, so that a dead letter that was mended and replayed is new.
"""

from __future__ import annotations

from dataclasses import replace

from faust.types.tuples import Message

from agents.app import make_table
from agents.document_stage import DocumentStage
from agents.forgetting import HEADERS, keys_to_delete
from agents.incoming import arrived, is_in_place
from agents.kafka.delivery import OnFailure, Work
from agents.kafka.partitions import Key
from agents.kafka.tables.table import key_of
from agents.seen import SeenDomains
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import document as documents
from models import duplicate as duplicates
from models import headers as names
from models import raw_html
from models.command import Forget
from models.headers import header
from urltree.address.url_key import UrlKey
from urltree.enrich.fallback import add_vouched_blocks
from urltree.enrich.metadata import find_metadata
from urltree.page import Page, PageError, Reason
from urltree.reading.admission import admit
from urltree.site.deduplication import Arrival, Duplicate, Forward, normalise


class Normalize(DocumentStage):
    """The stage from raw-html to documents."""

    name = "normalize"
    reads = ("raw-html",)

    def __init__(self, settings: Settings, on_failure: OnFailure) -> None:
        super().__init__(settings, on_failure)
        self.table = make_table(self.app, "seen")
        self.schemes = Schemes(settings)
        self.domains = SeenDomains(self.table, settings.horizons, self.metrics)
        self.metrics.gauge("domains", "Domains in memory.", lambda: len(self.domains))

    async def take(self, message: Message, origin: str, work: Work) -> None:
        """Decide what becomes of a page and send it there."""
        page = raw_html.decode(message.value, message.headers)
        admit(page, self.settings.max_page_bytes)
        schemes = self.schemes.of(page)
        domain = schemes[0].domain(page.final_url or "")
        if not await self._is_in_place(message, origin, domain, work):
            return
        partition = message.partition
        seen = await self.domains.get(partition, domain, work)

        def look_up(key: UrlKey) -> bytes | None:
            return self.table.get(partition, key_of(key.domain, bytes.fromhex(key.id)))

        decision = normalise(page, origin, schemes, seen.horizon, look_up, self.settings.revisits)
        if isinstance(decision, Duplicate):
            await self._report(page, origin, decision, work)
        else:
            described = self._described(decision, page, seen.documents)
            await self._forward(described, partition, work)
            if decision.arrival is Arrival.NEW:
                await self.domains.add(partition, domain, decision.seen.time, work)

    async def obey(self, forget: Forget, partition: int, origin: str, work: Work) -> None:
        """Delete what was seen, and pass the command on to `extract`."""
        await self.delete(
            self.table, partition, keys_to_delete(self.table, partition, forget), work
        )
        headers = [*HEADERS, (names.ORIGIN, origin.encode())]
        to = Key(partition, forget.domain.encode())
        await self.send(work, "documents", to, forget.encode(), headers)

    def drop(self, partition: int, domain: str) -> None:
        """A horizon is made again from `seen`."""
        self.domains.drop(partition, domain)

    def clear(self) -> None:
        """Horizons are made again from `seen`."""
        self.domains.clear()

    async def _is_in_place(self, message: Message, origin: str, domain: str, work: Work) -> bool:
        """Whether the record lies where its domain's records are; if not, it is sent there."""
        if is_in_place(message, domain, self.partitions):
            return True
        if header(message.headers, names.REKEYED) is not None:
            raise PageError(Reason.MISPLACED, f"{domain}: was re-keyed, and is misplaced still")
        again = (names.ORIGIN, names.ARRIVED)
        kept = [(name, value) for name, value in message.headers or () if name not in again]
        ours = [(names.ORIGIN, origin.encode()), (names.REKEYED, b"1"), *arrived(message)]
        await self.send(work, "raw-html", self.key(domain), message.value, [*kept, *ours])
        self.metrics.rekeyed.inc()
        return False

    def _described(self, decision: Forward, page: Page, known: int) -> Forward:
        document = decision.document
        if self.settings.metadata:
            document = replace(document, metadata=find_metadata(page))
        if self.settings.single_page != "none":
            document = add_vouched_blocks(document, page, known)
        return replace(decision, document=document)

    async def _forward(self, decision: Forward, partition: int, work: Work) -> None:
        document = decision.document
        value = documents.encode(document)
        self.check_size("documents", value)
        headers = [(names.ORIGIN, document.origin.encode()), *arrived(work.message)]
        await self.send(work, "documents", Key(partition, document.domain.encode()), value, headers)
        stored = await self.table.put(
            partition, key_of(document.domain, document.key_bytes), decision.seen.encode()
        )
        work.wait_for(stored)
        self.metrics.documents.inc()
        if decision.arrival is Arrival.REPLAY:
            self.metrics.replays.inc()
        elif decision.arrival is Arrival.REVISIT:
            self.metrics.revisits.inc()

    async def _report(self, page: Page, origin: str, found: Duplicate, work: Work) -> None:
        urls = duplicates.Urls(page.url, page.final_url or "", found.key.canonical, found.key.key)
        value = duplicates.encode(
            duplicates.Duplicate(origin, found.first_origin, found.key.id, found.step, urls)
        )
        await self.send(work, "duplicates", self.key(origin), value)
        self.metrics.duplicates.labels(found.step).inc()
