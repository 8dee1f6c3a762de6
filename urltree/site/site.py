"""What is learned of one domain: its rows, as a window and a tree in memory.

    document ──▶ learn ──▶ Lesson: what is said of it, the row to put, the ids to evict
                  │ ▲
                  ▼ │ made from rows alone, again at any time
                window, tree, path statistics

`learn` only decides: the caller (an agent, or the library) puts the row and deletes the evicted.
Rows are the truth. A domain whose caller failed half-way is dropped from memory and rebuilt.

A listing is judged as any document, and then left out: in the window, neither in the tree nor in
the path statistics, so that the standfirsts on a section front repeat no article's (issue 6).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from urltree.document import Document
from urltree.heuristics.page_kind import PageKind
from urltree.heuristics.protocol import Heuristic, Judgement
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site.first_pages import FirstPages
from urltree.site.lesson import Kind, Lesson
from urltree.site.row import Row, Verdict
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import UrlTree
from urltree.tree.window import Eviction, Window


class LearnedDomain:
    """The tree of one domain with its window.

    Args:
        heuristic: decides what is boilerplate.
        eviction: None keeps every document.
        keep_counts: store the counts of a verdict, for a job that publishes them.
        revise: judge its first pages again, see `urltree.site.first_pages`.

    Attributes:
        first: which of them are kept for that.
    """

    __slots__ = (
        *("_contributed", "_contributions", "_eviction", "_heuristic", "_keep_counts", "_times"),
        *("first", "paths", "tree", "window"),
    )

    def __init__(
        self,
        heuristic: Heuristic,
        eviction: Eviction | None,
        *,
        keep_counts: bool = False,
        revise: bool = False,
    ) -> None:
        self._heuristic = heuristic
        self._eviction = eviction
        self._keep_counts = keep_counts
        self._times: dict[bytes, int] = {}
        self._contributions: dict[bytes, bytes] = {}
        self._contributed = 0  # bytes of them
        self.first = FirstPages(eviction, is_on=revise)
        self.tree = UrlTree()
        self.paths = PathStatistics()
        self.window = Window(eviction)

    def __contains__(self, document_id: bytes) -> bool:
        return document_id in self._times

    @property
    def memory(self) -> int:
        """Estimated bytes in memory."""
        documents = 200 * len(self._times) + 150 * len(self._contributions) + self._contributed
        return self.tree.memory + self.paths.memory + documents

    def rebuild(self, rows: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
        """Fill an empty domain from its stored rows, in any order.

        Args:
            rows: (id, encoded row) pairs.

        Returns:
            Ids whose rows are to be deleted: outside the window (a crash came between the row and
            its tombstone), or of an older tokenizer, once the domain has learned with this one:
            until then what was in flight is said again. Rows of another tokenizer count nowhere;
            those of a newer one are left to the release that wrote them.

        Raises:
            RowError: a row of a version that this release does not know.
        """
        stale: list[bytes] = []
        for document_id, stored in rows:
            row = Row.decode(stored)
            if row.tokenizer == TOKENIZER_VERSION:
                self._insert(document_id, row.branch, row.hashes, row.time)
                if row.paths:
                    self._contribute(document_id, Contribution.decode(row.paths), row.paths)
                if row.left_out:
                    self.tree.remove(document_id)
            elif row.tokenizer < TOKENIZER_VERSION:
                stale.append(document_id)
        return (stale if self._times else []) + self._evict()

    def learn(self, document: Document, stored: bytes | None) -> Lesson:
        """Insert a document, then judge it (paper, section 4: in this order).

        Args:
            document: of this domain.
            stored: the row under its id, None where there is none.
        """
        former = None if stored is None else Row.decode(stored)
        kind, digest = _kind(document, former), document.digest()
        if former is not None and stored is not None and kind is Kind.REPLAY:
            said_of, now = (former.tokenizer, former.digest), (document.tokenizer, digest)
            if said_of == now:
                kept = self.first.keep_again(document, former)
                return Lesson(kind, former.said, stored, (), kept)
        document_id = document.key_bytes
        was_kept = self.first.drop(document_id)
        if document_id in self._times:
            self.remove(document_id)
        row = self._insert_and_judge(document, digest, self._time(document, kind, former))
        row, kept = self.first.keep(document, row, len(self.tree))
        evicted = tuple(self._evict())
        dropped = [one for one in evicted if self.first.drop(one)]
        if was_kept and kept is None:
            dropped.append(document_id)
        return Lesson(kind, row.verdict, row.encode(), evicted, kept, tuple(dropped))

    def judge(self, document: Document) -> Verdict:
        """Judge a document in the window by all that is known now.

        Raises:
            KeyError: it is not in the window: evicted, or of another tokenizer.
        """
        if document.key_bytes not in self._times:
            raise KeyError(document.id)
        return self._verdict(self._judge(document))

    def remove(self, document_id: bytes) -> None:
        """Forget a document that is in the window: the exact inverse of inserting it."""
        self.window.remove(self._times[document_id], document_id)
        self._forget(document_id)

    def _insert_and_judge(self, document: Document, digest: int, time: int) -> Row:
        document_id, hashes = document.key_bytes, document.distinct_hashes()
        paths, is_left_out = b"", False
        if document.tokenizer == TOKENIZER_VERSION:
            self._insert(document_id, document.branch, hashes, time)
            judgement = self._judge(document)
            if self._leaves_out(judgement):
                self.tree.remove(document_id)
                is_left_out = True
            elif judgement.paths is not None:
                paths = judgement.paths.encode()
                self._contribute(document_id, judgement.paths, paths)
        else:
            # In flight while the tokenizer was upgraded: its hashes compare with nothing here,
            # so it is judged as a domain's first page, and its row counts nowhere.
            leaf = UrlTree().insert(document_id, (), hashes)
            judgement = self._heuristic.judge(document, leaf, PathStatistics())
            paths = b"" if judgement.paths is None else judgement.paths.encode()
        return Row(
            document.tokenizer,
            time,
            digest,
            document.origin,
            document.branch,
            hashes,
            self._verdict(judgement),
            paths,
            is_left_out,
        )

    def _judge(self, document: Document) -> Judgement:
        """Judge a document in the window; one that was left out as if it counted."""
        document_id = document.key_bytes
        if document_id in self.tree:
            return self._heuristic.judge(document, self.tree.leaf(document_id), self.paths)
        leaf = self.tree.insert(document_id, document.branch, document.distinct_hashes())
        try:
            return self._heuristic.judge(document, leaf, self.paths)
        finally:
            self.tree.remove(document_id)

    def _leaves_out(self, judgement: Judgement) -> bool:
        """Whether to leave out a listing: not where half of the site is listings already.

        A site without other pages, a forum's or a list of links, would never be learned.
        """
        counted = len(self.tree)  # the document itself among them
        left_out = len(self._times) - counted
        return judgement.page_kind is PageKind.LISTING and left_out < counted

    def _verdict(self, judgement: Judgement) -> Verdict:
        return Verdict(
            self._heuristic.name,
            self._heuristic.version,
            judgement.depth,
            judgement.support,
            judgement.boilerplate,
            judgement.counts if self._keep_counts else None,
            judgement.kinds,
            judgement.page_kind,
        )

    def _time(self, document: Document, kind: Kind, former: Row | None) -> int:
        if document.time is not None:
            return document.time
        if former is not None and kind is Kind.REPLAY:
            return former.time
        return self.window.newest_time()

    def _insert(
        self, document_id: bytes, branch: tuple[str, ...], hashes: array[int], time: int
    ) -> None:
        self.tree.insert(document_id, branch, hashes)
        self.window.add(time, document_id)
        self._times[document_id] = time

    def _contribute(self, document_id: bytes, paths: Contribution, stored: bytes) -> None:
        self.paths.add(paths)
        self._contributions[document_id] = stored
        self._contributed += len(stored)

    def _forget(self, document_id: bytes) -> None:
        if document_id in self.tree:
            self.tree.remove(document_id)
        del self._times[document_id]
        paths = self._contributions.pop(document_id, None)
        if paths is not None:
            self.paths.subtract(Contribution.decode(paths))
            self._contributed -= len(paths)

    def _evict(self) -> list[bytes]:
        evicted = self.window.evict()
        for document_id in evicted:
            self._forget(document_id)
        return evicted


def _kind(document: Document, former: Row | None) -> Kind:
    if former is None:
        return Kind.NEW
    return Kind.REPLAY if former.origin == document.origin else Kind.REPLACEMENT
