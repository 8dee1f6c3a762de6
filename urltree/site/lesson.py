"""What comes of learning a document: what to say, what to store, what to delete."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from urltree.site.row import Verdict


class Kind(Enum):
    """How a document relates to what is stored under its id."""

    NEW = "new"
    REPLAY = "replay"  # same origin: Kafka delivered the same record again
    REPLACEMENT = "replacement"  # another origin, e.g. after `seen` forgot the first


@dataclass(frozen=True, slots=True)
class Lesson:
    """The outcome of learning one document.

    Attributes:
        verdict: what to publish; for a replay what was said last.
        row: encoded, to be put under the document's id, also for a replay: RocksDB may have run
            ahead of the changelog, and a row that is not put again would be missing after a move.
        evicted: ids to delete now, the document's own among them if it is too old.
        kept: bytes to keep the document as, see `urltree.site.first_pages`.
        dropped: ids of documents to keep no longer.
    """

    kind: Kind
    verdict: Verdict
    row: bytes
    evicted: tuple[bytes, ...]
    kept: bytes | None = None
    dropped: tuple[bytes, ...] = ()
