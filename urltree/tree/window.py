"""The window of a domain: the documents in its URL tree; old ones are evicted (paper, section 6).

    oldest                                              newest
    │ evicted: too many or too old │ window …  │ newest 100: always kept │
                                                      fifth-newest: age is measured from here

The window depends only on the time and id of each row. It uses no clock and does not depend on
earlier evictions. The age of a document is its distance from the fifth-newest document. Therefore
up to four pages with a wrong date in the future evict nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

DAY = 86_400 * 1_000_000  # a day in microseconds
REFERENCE = 5  # age is measured from the fifth-newest document


@dataclass(frozen=True, slots=True)
class Eviction:
    """Limits of the number and age of a domain's documents (defaults: paper, section 6).

    Attributes:
        max_documents: largest number of documents; if there are more, the oldest are evicted.
        max_age: largest age of a document in microseconds of document time.
        keep: number of the newest documents that are never evicted.
    """

    max_documents: int = 10_000
    max_age: int = 14 * DAY
    keep: int = 100

    def __post_init__(self) -> None:
        if not REFERENCE <= self.keep <= self.max_documents:
            raise ValueError(
                f"eviction: keep should be from {REFERENCE} to max_documents"
                f" ({self.max_documents}), is {self.keep}"
            )
        if self.max_age < 0:
            raise ValueError(f"eviction: max_age should be 0 or more, is {self.max_age}")


class Window:
    """The documents of a domain, sorted by time and id.

    Args:
        eviction: limits of the window; None keeps all documents.
        entries: pairs of time and id of the documents at the beginning.
    """

    __slots__ = ("_entries", "eviction")

    def __init__(
        self, eviction: Eviction | None, entries: Iterable[tuple[int, bytes]] = ()
    ) -> None:
        self.eviction = eviction
        self._entries = sorted(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return iter(self._entries)

    def newest_time(self) -> int:
        """Return the time of the newest document in microseconds, or 0 if the window is empty."""
        return self._entries[-1][0] if self._entries else 0

    def add(self, time: int, document_id: bytes) -> None:
        """Add a document that is not in the window."""
        insort(self._entries, (time, document_id))

    def remove(self, time: int, document_id: bytes) -> None:
        """Remove a document; `time` must be the time with which it was added."""
        entry = (time, document_id)
        at = bisect_left(self._entries, entry)
        if at == len(self._entries) or self._entries[at] != entry:
            raise KeyError(entry)
        del self._entries[at]

    def evict(self) -> list[bytes]:
        """Remove the documents beyond the limits, and return their ids, the oldest first."""
        if self.eviction is None or len(self._entries) <= self.eviction.keep:
            return []
        too_many = len(self._entries) - self.eviction.max_documents
        oldest = self._entries[-REFERENCE][0] - self.eviction.max_age
        too_old = bisect_left(self._entries, (oldest, b""))
        cut = min(max(too_many, too_old, 0), len(self._entries) - self.eviction.keep)
        evicted = [document_id for _, document_id in self._entries[:cut]]
        del self._entries[:cut]
        return evicted
