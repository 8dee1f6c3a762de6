"""The sites that `normalize` has in memory: their horizons, and when to delete old records.

The table `seen` forgets records that are older than the horizon of their site, in document time.
They are deleted when a site is read into memory, and again after as many new documents as the site
has records. Such a sweep reads all records of the site, which costs about 3 µs per new document.
"""

from __future__ import annotations

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_key, row_prefix
from agents.memory import Memory
from agents.telemetry.metrics import Metrics
from urltree.site.seen import Horizon, Seen

_SWEEP = 256  # least number of new documents between two sweeps


class SeenSite:
    """The `seen` records of one site, for the pipeline.

    Attributes:
        documents: number of documents that the site remembers.
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
        """Return the encoded `seen` record of a document, None if there is none."""
        return self._table.get(self._partition, row_key(self._domain, document_id))

    def times(self) -> list[tuple[bytes, int]]:
        """Return the pairs of table key and document time of all records."""
        rows = self._table.scan(self._partition, row_prefix(self._domain))
        return [(key, Seen.decode(value).time) for key, value in rows]


class SeenSites:
    """Sites in memory; a site is read from the table `seen` when it is first needed."""

    def __init__(self, table: ConfirmedTable, bound: int, metrics: Metrics) -> None:
        self._table = table
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
        """Return a site; read it from its records if it is not in memory."""
        found = self._memory.get(partition, domain)
        if found is None:
            found = SeenSite(self._table, partition, domain)
            times = found.times()
            found.horizon = Horizon(time for _, time in times)
            await self._sweep(partition, found, times, work)
            self._memory.add(partition, domain, found)
            self._metrics.rebuilds.inc()
        return found

    async def add(self, partition: int, domain: str, time: int, work: Work) -> None:
        """Count a new document that was forwarded."""
        found = await self.get(partition, domain, work)
        found.horizon.add(time)
        found.documents += 1
        found.left -= 1
        if found.left <= 0:
            await self._sweep(partition, found, found.times(), work)

    async def _sweep(
        self, partition: int, site: SeenSite, times: list[tuple[bytes, int]], work: Work
    ) -> None:
        """Delete the records that are older than the horizon."""
        past = [key for key, time in times if site.horizon.is_past(time)]
        for key in past:
            work.wait_for(await self._table.delete(partition, key))
        self._metrics.evicted.inc(len(past))
        site.documents = len(times) - len(past)
        site.left = max(_SWEEP, site.documents)
