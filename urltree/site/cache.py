"""The domains that are known: as many in memory as its bound allows, the others on disk.

    page ──▶ KnownDomain ──▶ normalise ──▶ learn ──▶ Verdict
               ▲     │                         └──▶ revise ──▶ first pages, judged again
          load │     ▼ spill: the domain that was used longest ago
              State

The library does here what the job's two agents do with their tables.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from urltree.address.url_key import KeyScheme, UrlKey
from urltree.document import Document
from urltree.page import Page
from urltree.site.deduplication import Arrival, Duplicate, Forward, normalise
from urltree.site.packed_document import unpack
from urltree.site.revisits import Revisits, superseded_by
from urltree.site.row import Row, Verdict
from urltree.site.seen import Horizon, Seen
from urltree.site.site import LearnedDomain
from urltree.site.state_directory import State, Stored

_ENTRY_BYTES = 130  # of a dict entry, its id and its value's header: 111 to 135 by tracemalloc


class KnownDomain:
    """One domain: what is stored of it, and the tree that is made from it.

    Attributes:
        stored: rows, `seen` and first pages, the truth.
        changed: whether it differs from what is on disk.
    """

    __slots__ = ("_learned", "_new", "_stored_bytes", "changed", "horizon", "stored")

    def __init__(self, new: Callable[[], LearnedDomain], stored: Stored) -> None:
        self._new = new
        self._learned: LearnedDomain | None = None
        self._stored_bytes = sum(_size(value) for entries in stored for value in entries.values())
        self.stored = stored
        self.changed = False
        self.horizon = Horizon(Seen.decode(seen).time for seen in stored.seen.values())

    @property
    def memory(self) -> int:
        """Estimated bytes in memory."""
        return self._stored_bytes + (self._learned.memory if self._learned else 0)

    @property
    def known(self) -> int:
        """Documents that were seen."""
        return len(self.stored.seen)

    def normalise(
        self, page: Page, origin: str, schemes: Sequence[KeyScheme], revisits: Revisits = "drop"
    ) -> Forward | Duplicate:
        """Decide what becomes of a page; see `urltree.site.deduplication`."""

        def look_up(key: UrlKey) -> bytes | None:
            return self.stored.seen.get(bytes.fromhex(key.id))

        return normalise(page, origin, schemes, self.horizon, look_up, revisits)

    def superseded_by(self, document: Document) -> str | None:
        """Origin of a later version of a document, if that is what its row is of."""
        return superseded_by(document, self.stored.rows.get(document.key_bytes))

    def replaced_by(self, document: Document) -> str | None:
        """Origin of the version that has taken the place of one that was learned, if one has."""
        origin = Row.decode(self.stored.rows[document.key_bytes]).origin
        return None if origin == document.origin else origin

    def learn(self, forward: Forward) -> Verdict:
        """Learn a document; store its row, then its `seen`."""
        document_id = forward.document.key_bytes
        try:
            lesson = self._tree().learn(forward.document, self.stored.rows.get(document_id))
            self._put(self.stored.rows, document_id, lesson.row)
            for evicted in lesson.evicted:
                self._put(self.stored.rows, evicted, None)
            if lesson.kept is not None:
                self._put(self.stored.first, document_id, lesson.kept)
            for dropped in lesson.dropped:
                self._put(self.stored.first, dropped, None)
            self._put(self.stored.seen, document_id, forward.seen.encode())
            if forward.arrival is Arrival.NEW:
                self.horizon.add(forward.seen.time)
        except BaseException:  # also Ctrl-C: rows are the truth, the tree is made anew
            self._learned = None
            raise
        return lesson.verdict

    def revise(self) -> Iterator[tuple[Document, Verdict]]:
        """Judge the first pages again once they are due; those whose text has changed."""
        learned, stored = self._tree(), self.stored
        for document_id in learned.first.due(len(learned.tree)):
            document = unpack(stored.first[document_id])
            former = stored.rows.get(document_id)
            revision = learned.first.revise(document, former, learned.judge)
            if revision is not None:
                self._put(stored.rows, document_id, revision.row)
            self._put(stored.first, document_id, None)
            if revision is not None and revision.verdict is not None:
                yield document, revision.verdict

    def judge_again(self, document: Document) -> Verdict:
        """Judge a document by all that is known now, and store that as its verdict."""
        verdict = self._tree().judge(document)
        document_id = document.key_bytes
        former = Row.decode(self.stored.rows[document_id])
        row = replace(former, verdict=verdict, waits=False, revised=None)
        self._put(self.stored.rows, document_id, row.encode())
        return verdict

    def forget_past(self) -> None:
        """Drop what was seen longer ago than the horizon: it counts as unseen."""
        seen = self.stored.seen
        for document_id in [
            i for i, s in seen.items() if self.horizon.is_past(Seen.decode(s).time)
        ]:
            self._put(seen, document_id, None)

    def _tree(self) -> LearnedDomain:
        if self._learned is None:
            learned = self._new()
            for stale in learned.rebuild(self.stored.rows.items()):
                self._put(self.stored.rows, stale, None)
            sizes = [(kept, len(packed)) for kept, packed in self.stored.first.items()]
            for dropped in learned.first.recall(sizes, learned.__contains__):
                self._put(self.stored.first, dropped, None)
            self._learned = learned
        return self._learned

    def _put(self, entries: dict[bytes, bytes], document_id: bytes, value: bytes | None) -> None:
        self.changed = True
        if document_id in entries:
            self._stored_bytes -= _size(entries[document_id])
        if value is None:
            entries.pop(document_id, None)
        else:
            entries[document_id] = value
            self._stored_bytes += _size(value)


class KnownDomains:
    """All domains, in memory or on disk.

    Args:
        state: where they are kept.
        new: makes an empty LearnedDomain.
        memory: bytes beyond which the domain that was used longest ago is spilled; the one in
            use always stays.
    """

    def __init__(self, state: State, new: Callable[[], LearnedDomain], memory: int) -> None:
        self._state = state
        self._new = new
        self._bound = memory
        self._domains: OrderedDict[str, KnownDomain] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._memory = 0

    def use(self, domain: str) -> KnownDomain:
        """The domain, loaded where it is not in memory."""
        known = self._domains.get(domain)
        if known is None:
            known = self._domains[domain] = KnownDomain(self._new, self._state.load(domain))
        self._domains.move_to_end(domain)
        return known

    def settle(self) -> None:
        """Keep the bound, after the domain in use has grown."""
        domain, known = next(reversed(self._domains.items()))
        self._weigh(domain, known.memory)
        while self._memory > self._bound and len(self._domains) > 1:
            domain, known = self._domains.popitem(last=False)
            self._weigh(domain, 0)
            self._spill(domain, known)

    def save(self) -> None:
        """Put all that changed on disk, for good."""
        for domain, known in self._domains.items():
            self._spill(domain, known)
        self._state.commit()

    def _spill(self, domain: str, known: KnownDomain) -> None:
        if known.changed:
            known.forget_past()
            self._state.spill(domain, known.stored)
            known.changed = False

    def _weigh(self, domain: str, size: int) -> None:
        self._memory += size - self._sizes.pop(domain, 0)
        if size:
            self._sizes[domain] = size


def _size(value: bytes) -> int:
    return _ENTRY_BYTES + len(value)
