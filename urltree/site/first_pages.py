"""First pages: the pages of a new site are judged a second time when 20 documents are known.

    documents 1 to 19   the site is little known: each document is stored, and its row is marked
    document 20         each stored document is judged again; if its text changes, the row stores
                        both verdicts and the page is published again as revision 1

No document gets a third verdict. When 20 more pages are known, the F1 of the first ten pages of a
site rises from .977 to .989; later pages gain nothing. The second verdict depends only on the rows
in the window, and it is stored before any later row, so that a crash does not change it. The second
verdict does not change what the document contributes to the path statistics. Therefore the order in
which documents are judged again does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from urltree.document import Document, kept_text
from urltree.heuristics.protocol import Verdict
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site.packed_document import pack
from urltree.site.row import Row
from urltree.tree.window import Eviction

ENOUGH = 20  # number of documents in the tree at which first pages are judged again
MAX_BYTES = 1 << 20  # bytes of a site's stored documents; other documents are judged only once


class Revision(NamedTuple):
    """The result of judging a document again.

    Attributes:
        row: encoded row to store under the document's id.
        verdict: verdict to publish; None if the second verdict gives the same text.
    """

    row: bytes
    verdict: Verdict | None


class FirstPages:
    """The documents of a site that are stored to be judged again; the caller stores their bytes.

    Args:
        eviction: eviction of the site. A window of fewer than 20 documents stores no first pages.
        is_on: whether first pages are judged again at all.
    """

    __slots__ = ("_sizes", "is_on")

    def __init__(self, eviction: Eviction | None, *, is_on: bool) -> None:
        self.is_on = is_on and (eviction is None or eviction.max_documents >= ENOUGH)
        self._sizes: dict[bytes, int] = {}

    def recall(
        self, kept: Iterable[tuple[bytes, int]], is_known: Callable[[bytes], bool]
    ) -> list[bytes]:
        """Register the documents that are already stored. Call it after a site was rebuilt.

        Args:
            kept: ids and sizes in bytes of all stored documents of the site.
            is_known: function that returns whether an id is in the window of the site.

        Returns:
            Ids of the documents to delete: those outside the window, or all if `is_on` is False.
        """
        dropped = []
        for document_id, size in kept:
            if self.is_on and is_known(document_id):
                self._sizes[document_id] = size
            else:
                dropped.append(document_id)
        return dropped

    def drop(self, document_id: bytes) -> bool:
        """Unregister a document; return whether it was registered."""
        return self._sizes.pop(document_id, None) is not None

    def due(self, documents: int) -> list[bytes]:
        """Return the ids of the documents to judge again.

        Args:
            documents: number of documents in the tree of the site.
        """
        return sorted(self._sizes) if documents >= ENOUGH else []

    def keep(self, document: Document, row: Row, documents: int) -> tuple[Row, bytes | None]:
        """Decide whether to store a document that was just judged.

        A document is not stored if a heuristic of the paper has judged it, because the paper judges
        each document once. The verdict of such a heuristic has no kinds of boilerplate.

        Args:
            document: a document of the site.
            row: the row of the document.
            documents: number of documents in the tree, this one included.

        Returns:
            The row to store, and the bytes of the document; None if the document is not stored.
        """
        is_candidate = (
            self.is_on
            and documents < ENOUGH
            and row.verdict.kinds is not None
            and row.tokenizer == TOKENIZER_VERSION
        )
        if not is_candidate:
            return row, None
        packed = pack(document)
        if sum(self._sizes.values()) + len(packed) > MAX_BYTES:
            return row, None
        self._sizes[document.key_bytes] = len(packed)
        return replace(row, waits=True), packed

    def keep_again(self, document: Document, row: Row) -> bytes | None:
        """Return the bytes of a replayed document that waits for its second verdict, else None.

        The bytes must be stored again, because a crash may have lost them.
        """
        if not (self.is_on and row.waits and row.tokenizer == TOKENIZER_VERSION):
            return None
        packed = pack(document)
        self._sizes[document.key_bytes] = len(packed)
        return packed

    def revise(
        self, document: Document, row: Row | None, judge: Callable[[Document], Verdict]
    ) -> Revision | None:
        """Judge a stored document again. If a crash came after that, repeat the stored verdict.

        Args:
            document: the stored document.
            row: the row under the document's id, None if there is none.
            judge: function that judges a document with the current tree and path statistics.

        Returns:
            None if there is no row, or if the row belongs to another version of the page.
        """
        self.drop(document.key_bytes)
        if row is None or row.origin != document.origin:
            return None
        if row.waits:
            verdict = replace(judge(document), revision=1)
            former, now = row.verdict.boilerplate, verdict.boilerplate
            is_other = kept_text(document, former) != kept_text(document, now)
            row = replace(row, waits=False, revised=verdict if is_other else None)
        return Revision(row.encode(), row.revised)
