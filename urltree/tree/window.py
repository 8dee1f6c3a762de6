"""Which documents of a domain count: the eviction of old ones (paper, section 6).

    oldest                                              newest
    │ evicted: too many or too old │ window …  │ newest 100: always kept │
                                                      fifth-newest: age is measured from here

The window is a pure function of the rows' (time, id): no clock, and no memory of what was evicted
before. Measuring age against the fifth-newest lets four pages dated in the future evict nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

DAY = 86_400 * 1_000_000  # microseconds
REFERENCE = 5  # age is measured against the REFERENCE-newest document (ours, issue 3)


@dataclass(frozen=True, slots=True)
class Eviction:
    """How many documents of a domain are kept, and how long (defaults: paper, section 6).

    Attributes:
        max_documents: oldest first beyond it.
        max_age: microseconds of document time.
        keep: so many of the most recent always stay.
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
            raise ValueError(f"eviction: max_age should not be negative, is {self.max_age}")


class Window:
    """The documents of a domain in the order of (time, id), which is also that of iteration.

    Args:
        eviction: None keeps everything.
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
        """Time of the newest document in microseconds, 0 where there is none."""
        return self._entries[-1][0] if self._entries else 0

    def add(self, time: int, document_id: bytes) -> None:
        """Add a document that is not in the window."""
        insort(self._entries, (time, document_id))

    def remove(self, time: int, document_id: bytes) -> None:
        """Remove a document that is in the window under that time."""
        entry = (time, document_id)
        at = bisect_left(self._entries, entry)
        if at == len(self._entries) or self._entries[at] != entry:
            raise KeyError(entry)
        del self._entries[at]

    def evict(self) -> list[bytes]:
        """Remove what lies outside the window; returns their ids, oldest first."""
        if self.eviction is None or len(self._entries) <= self.eviction.keep:
            return []
        too_many = len(self._entries) - self.eviction.max_documents
        oldest = self._entries[-REFERENCE][0] - self.eviction.max_age
        too_old = bisect_left(self._entries, (oldest, b""))
        cut = min(max(too_many, too_old, 0), len(self._entries) - self.eviction.keep)
        evicted = [document_id for _, document_id in self._entries[:cut]]
        del self._entries[:cut]
        return evicted
