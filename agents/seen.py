"""The sites that `normalize` has in memory: their horizons, and the sweeps of old records.

The horizon of a site is the document time before which its records are no longer needed.
A sweep deletes the records of a site in the table `seen` that are older than the horizon of the
site, in document time. A site is swept when it is read into memory, and again when the number of
its new documents reaches the number of its records. A sweep reads all records of the site. This
costs about 3 µs per new document.
"""

from __future__ import annotations

from agents.forgetting import Forgotten
from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from agents.memory import Memory
from agents.telemetry.metrics import Metrics
from urltree.site.seen import Horizon, Seen

_SWEEP = 256  # smallest number of new documents between two sweeps


class SeenSite:
    """The `seen` records of one site, which the pipeline reads.

    Attributes:
        documents: number of the site's records.
        horizon: horizon of the site.
        left: number of new documents until the next sweep.
    """

    __slots__ = ("_domain", "_partition", "_table", "documents", "horizon", "left")

    def __init__(self, table: ConfirmedTable, partition: int, domain: str) -> None:
        self._table = table
        self._partition = partition
        self._domain = domain
        self.documents = 0
        self.horizon = Horizon()
        self.left = _SWEEP

    def seen(self, document_id: bytes) -> bytes | None:
        """Return the encoded `seen` record of a document, or None if it has no record."""
        return self._table.get(self._partition, row_key(self._domain, document_id))

    def times(self) -> list[tuple[bytes, int]]:
        """Return the table key and the document time of each record of the site."""
        rows = self._table.scan(self._partition, row_prefix(self._domain))
        return [(key, Seen.decode(value).time) for key, value in rows]


class SeenSites:
    """The sites in memory. The records of a site are read from `seen` when first needed."""

    def __init__(
        self, table: ConfirmedTable, bound: int, metrics: Metrics, forgotten: Forgotten
    ) -> None:
        self._table = table
        self._forgotten = forgotten
        self._metrics = metrics
        self._memory: Memory[SeenSite] = Memory(bound, lambda _: 1)

    def __len__(self) -> int:
        return len(self._memory)

    def drop(self, partition: int, domain: str) -> None:
        """Drop a site from memory."""
        self._memory.drop(partition, domain)

    def clear(self) -> None:
        """Drop all sites from memory."""
        self._memory.clear()

    async def get(self, partition: int, domain: str, work: Work) -> SeenSite:
        """Return a site; if it is not in memory, read its records from the table `seen`."""
        found = self._memory.get(partition, domain)
        if found is None:
            await self._delete_forgotten(partition, domain, work)
            found = SeenSite(self._table, partition, domain)
            times = found.times()
            found.horizon = Horizon(time for _, time in times)
            await self._sweep(partition, found, times, work)
            self._memory.add(partition, domain, found)
            self._metrics.rebuilds.inc()
        return found

    async def add(self, partition: int, domain: str, time: int, work: Work) -> None:
        """Add the time of a new document to its site, and sweep the site if that is due."""
        found = await self.get(partition, domain, work)
        found.horizon.add(time)
        found.documents += 1
        found.left -= 1
        if found.left <= 0:
            await self._sweep(partition, found, found.times(), work)

    async def _delete_forgotten(self, partition: int, domain: str, work: Work) -> None:
        """Delete the records of forgotten pages, which a restored dump may contain."""
        rows = self._table.scan(partition, row_prefix(domain))
        origins = ((key, Seen.decode(value).origin) for key, value in rows)
        for key in await self._forgotten.of_rows(partition, domain, origins):
            work.wait_for(await self._table.delete(partition, key))

    async def _sweep(
        self, partition: int, site: SeenSite, times: list[tuple[bytes, int]], work: Work
    ) -> None:
        """Delete the records of a site that are older than its horizon."""
        past = [key for key, time in times if site.horizon.is_past(time)]
        for key in past:
            work.wait_for(await self._table.delete(partition, key))
        self._metrics.evicted.inc(len(past))
        site.documents = len(times) - len(past)
        site.left = max(_SWEEP, site.documents)
