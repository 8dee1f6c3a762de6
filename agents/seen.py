"""What `normalize` keeps of a domain in memory: the newest times, and when to clear up.

`seen` forgets what is past its horizon, in document time. What is past is deleted when a domain
is read into memory, and again whenever as many documents were forwarded as it has entries: a
sweep reads them all, which then costs 3 µs a document (issue 3: a prefix scan).
"""

from __future__ import annotations

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable, row_prefix
from agents.memory import Memory
from agents.telemetry.metrics import Metrics
from urltree.site.seen import Horizon, Seen

_SWEEP = 256  # documents between two sweeps, at least


class SeenDomain:
    """The horizon of a domain, how many documents it has, and those left until the next sweep."""

    __slots__ = ("documents", "horizon", "left")

    def __init__(self, horizon: Horizon) -> None:
        self.documents = 0
        self.horizon = horizon
        self.left = _SWEEP


class SeenDomains:
    """Domains in memory, made from the table `seen` when they are asked for."""

    def __init__(self, table: ConfirmedTable, bound: int, metrics: Metrics) -> None:
        self._table = table
        self._metrics = metrics
        self._memory: Memory[SeenDomain] = Memory(bound, lambda _: 1)

    def __len__(self) -> int:
        return len(self._memory)

    def drop(self, partition: int, domain: str) -> None:
        """Keep nothing of a domain in memory."""
        self._memory.drop(partition, domain)

    def clear(self) -> None:
        """Keep nothing in memory."""
        self._memory.clear()

    async def get(self, partition: int, domain: str, work: Work) -> SeenDomain:
        """A domain, read from its rows if it is cold."""
        found = self._memory.get(partition, domain)
        if found is None:
            entries = self._entries(partition, domain)
            found = SeenDomain(Horizon(time for _, time in entries))
            await self._sweep(partition, entries, found, work)
            self._memory.add(partition, domain, found)
            self._metrics.rebuilds.inc()
        return found

    async def add(self, partition: int, domain: str, time: int, work: Work) -> None:
        """A new document was forwarded."""
        found = await self.get(partition, domain, work)
        found.horizon.add(time)
        found.documents += 1
        found.left -= 1
        if found.left <= 0:
            await self._sweep(partition, self._entries(partition, domain), found, work)

    async def _sweep(
        self, partition: int, entries: list[tuple[bytes, int]], found: SeenDomain, work: Work
    ) -> None:
        """Delete what is past the horizon."""
        past = [key for key, time in entries if found.horizon.is_past(time)]
        for key in past:
            work.wait_for(await self._table.delete(partition, key))
        self._metrics.evicted.inc(len(past))
        found.documents = len(entries) - len(past)
        found.left = max(_SWEEP, found.documents)

    def _entries(self, partition: int, domain: str) -> list[tuple[bytes, int]]:
        rows = self._table.scan(partition, row_prefix(domain))
        return [(key, Seen.decode(value).time) for key, value in rows]
