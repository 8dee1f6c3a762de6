"""A site in memory: its window, its URL tree, and its path statistics, built from rows alone.

    document ──▶ learn ──▶ Learned: verdict, row to store, ids of rows to delete
                  │ ▲
                  ▼ │ can be rebuilt from the rows at any time
                window, tree, path statistics

`learn` changes only the memory. The caller (an agent of the job, or the library) stores the row and
deletes the evicted rows. If the caller fails before it has done both, it drops the site from memory
and rebuilds it from the rows.

A listing (a page that links to articles) is judged like any document, but is left out of the tree
and the path statistics; only the window contains it. Otherwise a listing that shows the first
paragraphs of articles would make these paragraphs look repeated.

Full text from a feed (`content_from: feed`) is not judged, and is in neither the tree nor the path
statistics nor the window. Its row contains no hashes. It is stored because a replay must repeat the
result, an older version must not replace a newer one, and `forget` finds documents by their rows.
These rows have a window of their own with the same limits, so their number is bounded, and they
evict no other document.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from urltree.document import Document
from urltree.heuristics.page_kind import PageKind
from urltree.heuristics.protocol import Heuristic, Verdict, keep_all
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site.first_pages import FirstPages
from urltree.site.row import Row
from urltree.tree.path_statistics import Contribution, PathStatistics
from urltree.tree.url_tree import UrlTree
from urltree.tree.window import Eviction, Window


class Relation(Enum):
    """The relation of a document to the row that is stored under its id."""

    NEW = "new"
    REPLAY = "replay"  # same origin: Kafka delivered the same record again
    REPLACEMENT = "replacement"  # another origin: a revisit, or the `seen` record has expired


class Learned(NamedTuple):
    """The result of learning one document: what to publish, to store, and to delete.

    Attributes:
        relation: relation of the document to its stored row.
        verdict: verdict to publish. For a replay, it is the verdict that was published last.
        row: encoded row to store under the document's id. It is stored for a replay too: after a
            crash RocksDB may be ahead of the changelog, and a row that is not written again would
            be missing after the partition moves to another worker.
        evicted: ids of the rows to delete, including the document's own id if it is too old.
        kept: bytes of the document to store as a first page, None if it is not stored.
        dropped: ids of first pages to delete.
    """

    relation: Relation
    verdict: Verdict
    row: bytes
    evicted: tuple[bytes, ...]
    kept: bytes | None = None
    dropped: tuple[bytes, ...] = ()


class Site:
    """The window, the tree and the path statistics of one site (one registrable domain).

    Args:
        heuristic: heuristic that decides what is boilerplate.
        eviction: limits of the window; None keeps every document.
        keep_counts: whether rows store the counts of each verdict, which the output can show.
        revise: whether the first pages are judged again, see `first_pages.py`.

    Attributes:
        first: the first pages that are stored.
        paths: path statistics of the documents in the tree.
        tree: URL tree.
        unjudged: documents that are not judged, in the order of (time, id).
        window: all other documents in the order of (time, id).
    """

    __slots__ = (
        *("_contributed", "_contributions", "_heuristic", "_keep_counts", "_times"),
        *("_unjudged_times", "first", "paths", "tree", "unjudged", "window"),
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
        self._keep_counts = keep_counts
        self._times: dict[bytes, int] = {}
        self._unjudged_times: dict[bytes, int] = {}
        self._contributions: dict[bytes, bytes] = {}
        self._contributed = 0  # bytes of all contributions
        self.first = FirstPages(eviction, is_on=revise)
        self.tree = UrlTree()
        self.paths = PathStatistics()
        self.unjudged = Window(eviction)
        self.window = Window(eviction)

    def __contains__(self, document_id: bytes) -> bool:
        return document_id in self._times

    @property
    def memory(self) -> int:
        """Estimated size in memory, in bytes."""
        documents = 200 * (len(self._times) + len(self._unjudged_times))
        documents += 150 * len(self._contributions) + self._contributed
        return self.tree.memory + self.paths.memory + documents

    def rebuild(self, rows: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
        """Fill an empty site from its stored rows. The order of the rows does not matter.

        Only rows of the current tokenizer are inserted. Rows of a newer tokenizer are ignored and
        remain stored for the release that wrote them. The row of a document that is not judged has
        no hashes, so its tokenizer does not matter.

        Args:
            rows: pairs of document id and encoded row.

        Returns:
            Ids of the rows to delete. Some rows are outside the window: a crash occurred before
            their tombstones were stored. Rows of an older tokenizer are deleted too, but only if
            the site has rows of the current tokenizer. Until then they remain, so that a document
            that is delivered again gets its stored verdict.

        Raises:
            RowError: this release does not know the version of a row.
        """
        stale: list[bytes] = []
        for document_id, stored in rows:
            row = Row.decode(stored)
            if not row.is_judged:
                self._insert_unjudged(document_id, row.time)
            elif row.tokenizer == TOKENIZER_VERSION:
                self._insert(document_id, row.branch, row.hashes, row.time)
                if row.paths:
                    self._contribute(document_id, Contribution.decode(row.paths), row.paths)
                if row.left_out:
                    self.tree.remove(document_id)
            elif row.tokenizer < TOKENIZER_VERSION:
                stale.append(document_id)
        return (stale if self._times else []) + self._evict()

    def learn(self, document: Document, former: Row | None) -> Learned:
        """Insert a document, then judge it (paper, section 4: in this order).

        Full text from a feed is neither inserted nor judged.

        Args:
            document: a document of this site.
            former: the row that is stored under the document's id, None if there is none.
        """
        relation, digest = _relation(document, former), document.digest()
        if former is not None and relation is Relation.REPLAY:
            stored, now = (former.tokenizer, former.digest), (document.tokenizer, digest)
            if stored == now:
                kept = self.first.keep_again(document, former)
                return Learned(relation, former.last_verdict, former.encode(), (), kept)
        document_id = document.key_bytes
        was_kept = self.first.drop(document_id)
        if document_id in self._times:
            self.remove(document_id)
        elif document_id in self._unjudged_times:
            self.unjudged.remove(self._unjudged_times.pop(document_id), document_id)
        is_judged = document.content_from == "page"
        time = self._time(document, relation, former, self.window if is_judged else self.unjudged)
        learn = self._insert_and_judge if is_judged else self._keep_all
        row = learn(document, digest, time)
        row, kept = self.first.keep(document, row, len(self.tree))
        evicted = tuple(self._evict())
        dropped = [one for one in evicted if self.first.drop(one)]
        if was_kept and kept is None:
            dropped.append(document_id)
        return Learned(relation, row.verdict, row.encode(), evicted, kept, tuple(dropped))

    def judge(self, document: Document) -> Verdict:
        """Judge a document of the window with the current tree and path statistics.

        Raises:
            KeyError: the document is not in the window: it was evicted, or another tokenizer
                made it.
        """
        if document.key_bytes not in self._times:
            raise KeyError(document.id)
        return self._to_store(self._judge(document))

    def due(self) -> list[bytes]:
        """Return the ids of the first pages to judge again now."""
        return self.first.due(len(self.tree))

    def remove(self, document_id: bytes) -> None:
        """Remove a document from the window: the exact inverse of its insertion."""
        self.window.remove(self._times[document_id], document_id)
        self._forget(document_id)

    def _insert_and_judge(self, document: Document, digest: int, time: int) -> Row:
        document_id, hashes = document.key_bytes, document.distinct_hashes()
        paths, is_left_out = b"", False
        if document.tokenizer == TOKENIZER_VERSION:
            self._insert(document_id, document.branch, hashes, time)
            verdict = self._judge(document)
            if self._leaves_out(verdict):
                self.tree.remove(document_id)
                is_left_out = True
            elif verdict.contribution is not None:
                paths = verdict.contribution.encode()
                self._contribute(document_id, verdict.contribution, paths)
        else:
            # Another release made the document with another tokenizer. Its hashes cannot be
            # compared with others, so it is judged like the only page of a site, and not inserted.
            leaf = UrlTree().insert(document_id, (), hashes)
            verdict = self._heuristic.judge(document, leaf, PathStatistics())
            paths = b"" if verdict.contribution is None else verdict.contribution.encode()
        return Row(
            document.tokenizer,
            time,
            digest,
            document.origin,
            document.branch,
            hashes,
            self._to_store(verdict),
            paths,
            is_left_out,
        )

    def _keep_all(self, document: Document, digest: int, time: int) -> Row:
        """Insert a document that is not judged into its window only.

        Former releases read its row as that of a listing without blocks, which is left out of
        the tree.
        """
        self._insert_unjudged(document.key_bytes, time)
        return Row(
            document.tokenizer,
            time,
            digest,
            document.origin,
            document.branch,
            array("Q"),
            keep_all(document),
            left_out=True,
        )

    def _judge(self, document: Document) -> Verdict:
        """Judge a document of the window.

        A document that was left out of the tree is in the tree only during this call.
        """
        document_id = document.key_bytes
        if document_id in self.tree:
            return self._heuristic.judge(document, self.tree.leaf(document_id), self.paths)
        leaf = self.tree.insert(document_id, document.branch, document.distinct_hashes())
        try:
            return self._heuristic.judge(document, leaf, self.paths)
        finally:
            self.tree.remove(document_id)

    def _leaves_out(self, verdict: Verdict) -> bool:
        """Return whether to leave a document out of the tree, because it is a listing.

        At most half of the documents (rounded up) are left out. Otherwise the tree of a site that
        consists of listings, such as a forum, would remain empty.
        """
        counted = len(self.tree)  # includes the document itself
        left_out = len(self._times) - counted
        return verdict.page_kind is PageKind.LISTING and left_out < counted

    def _to_store(self, verdict: Verdict) -> Verdict:
        counts = verdict.counts if self._keep_counts else None
        return replace(verdict, counts=counts, contribution=None)

    @staticmethod
    def _time(document: Document, relation: Relation, former: Row | None, window: Window) -> int:
        if document.time is not None:
            return document.time
        if former is not None and relation is Relation.REPLAY:
            return former.time
        return window.newest_time()

    def _insert(
        self, document_id: bytes, branch: tuple[str, ...], hashes: array[int], time: int
    ) -> None:
        self.tree.insert(document_id, branch, hashes)
        self.window.add(time, document_id)
        self._times[document_id] = time

    def _insert_unjudged(self, document_id: bytes, time: int) -> None:
        self.unjudged.add(time, document_id)
        self._unjudged_times[document_id] = time

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
        unjudged = self.unjudged.evict()
        for document_id in unjudged:
            del self._unjudged_times[document_id]
        return evicted + unjudged


def _relation(document: Document, former: Row | None) -> Relation:
    if former is None:
        return Relation.NEW
    return Relation.REPLAY if former.origin == document.origin else Relation.REPLACEMENT
