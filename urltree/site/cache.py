"""The sites of the library: those used last are in memory, all others are on disk.

    pipeline ──▶ StoredSite: rows, `seen` and first pages as dictionaries, tree in memory
                   ▲     │
              load │     ▼ spill: the site that was used longest ago
              StateDirectory

These dictionaries have the same role in the library as the tables of the two agents in the job.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from urltree.site.seen import Horizon, Seen
from urltree.site.site import Learned, Site
from urltree.site.state_directory import SiteRecords, StateDirectory

# Estimated bytes of a dict entry, its id and the header of its value. tracemalloc: 111 to 135.
_ENTRY_BYTES = 130


class StoredSite:
    """The stored records of one site, and the tree that was built from them.

    The class implements the pipeline's protocols `SeenStore` and `RowStore`.

    Attributes:
        records: rows, `seen` records and first pages; the tree can be rebuilt from the rows.
        changed: whether the records differ from those on disk.
        horizon: document time before which `seen` records are deleted.
        site: the tree and window in memory; None until they are built, and after a failure.
    """

    __slots__ = ("_bytes", "changed", "horizon", "records", "site")

    def __init__(self, records: SiteRecords) -> None:
        self._bytes = sum(_size(value) for entries in records for value in entries.values())
        self.records = records
        self.changed = False
        self.horizon = Horizon(Seen.decode(seen).time for seen in records.seen.values())
        self.site: Site | None = None

    @property
    def memory(self) -> int:
        """Estimated size in memory, in bytes."""
        return self._bytes + (self.site.memory if self.site else 0)

    @property
    def documents(self) -> int:
        """Number of stored `seen` records: one for each document that the site has forwarded."""
        return len(self.records.seen)

    def seen(self, document_id: bytes) -> bytes | None:
        """Return the encoded `seen` record of a document, None if there is none."""
        return self.records.seen.get(document_id)

    def row(self, document_id: bytes) -> bytes | None:
        """Return the encoded row of a document, None if there is none."""
        return self.records.rows.get(document_id)

    def rows(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the pairs of document id and encoded row."""
        return self.records.rows.items()

    def first_page(self, document_id: bytes) -> bytes | None:
        """Return the bytes of a first page (`first_pages.py`), None if it is not stored."""
        return self.records.first.get(document_id)

    def first_pages(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the pairs of document id and bytes of a first page."""
        return self.records.first.items()

    def put_row(self, document_id: bytes, row: bytes) -> None:
        """Store a row."""
        self._put(self.records.rows, document_id, row)

    def put_learned(self, document_id: bytes, learned: Learned) -> None:
        """Store the row and the first page of a learned document; delete what it evicts."""
        self.put_row(document_id, learned.row)
        self.delete_rows(learned.evicted)
        if learned.kept is not None:
            self._put(self.records.first, document_id, learned.kept)
        self.delete_first_pages(learned.dropped)

    def put_seen(self, document_id: bytes, seen: Seen, *, is_new: bool) -> None:
        """Store a `seen` record; the time of a new page is added to the horizon."""
        self._put(self.records.seen, document_id, seen.encode())
        if is_new:
            self.horizon.add(seen.time)

    def delete_rows(self, document_ids: Iterable[bytes]) -> None:
        """Delete rows."""
        for document_id in document_ids:
            self._put(self.records.rows, document_id, None)

    def delete_first_pages(self, document_ids: Iterable[bytes]) -> None:
        """Delete first pages."""
        for document_id in document_ids:
            self._put(self.records.first, document_id, None)

    def forget_past(self) -> None:
        """Delete the `seen` records that are older than the horizon."""
        seen = self.records.seen
        for document_id in [
            i for i, s in seen.items() if self.horizon.is_past(Seen.decode(s).time)
        ]:
            self._put(seen, document_id, None)

    def _put(self, entries: dict[bytes, bytes], document_id: bytes, value: bytes | None) -> None:
        self.changed = True
        if document_id in entries:
            self._bytes -= _size(entries[document_id])
        if value is None:
            entries.pop(document_id, None)
        else:
            entries[document_id] = value
            self._bytes += _size(value)


class SiteCache:
    """All sites of a run, in memory or on disk.

    Args:
        state: directory in which sites are stored.
        bound: size in bytes beyond which the site that was used longest ago is moved to disk. The
            site in use always stays in memory.
    """

    def __init__(self, state: StateDirectory, bound: int) -> None:
        self._state = state
        self._bound = bound
        self._sites: OrderedDict[str, StoredSite] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._memory = 0

    def use(self, domain: str) -> StoredSite:
        """Return a site; load it if it is not in memory."""
        stored = self._sites.get(domain)
        if stored is None:
            stored = self._sites[domain] = StoredSite(self._state.load(domain))
        self._sites.move_to_end(domain)
        return stored

    def settle(self) -> None:
        """Measure the site in use, and move other sites to disk until the bound is met."""
        domain, stored = next(reversed(self._sites.items()))
        self._weigh(domain, stored.memory)
        while self._memory > self._bound and len(self._sites) > 1:
            domain, stored = self._sites.popitem(last=False)
            self._weigh(domain, 0)
            self._spill(domain, stored)

    def save(self) -> None:
        """Write all changed sites to disk, and make all written sites permanent."""
        for domain, stored in self._sites.items():
            self._spill(domain, stored)
        self._state.commit()

    def _spill(self, domain: str, stored: StoredSite) -> None:
        if stored.changed:
            stored.forget_past()
            self._state.spill(domain, stored.records)
            stored.changed = False

    def _weigh(self, domain: str, size: int) -> None:
        self._memory += size - self._sizes.pop(domain, 0)
        if size:
            self._sizes[domain] = size


def _size(value: bytes) -> int:
    return _ENTRY_BYTES + len(value)
