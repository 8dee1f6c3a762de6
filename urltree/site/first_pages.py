"""A domain's first pages: judged again once 20 documents are known (issue 6, "Revision").

    documents 1 to 19   judged by little: each is kept, and its row waits
    document 20         each is judged again. Where its text changes, the row holds both verdicts,
                        and it is published once more under its id, as revision 1

The second verdict is the last: after 20 more pages the first ten of a domain rise from F1 .977 to
.989, later by nothing. It depends on the rows in the window alone, and is stored before any later
row: a crash changes nothing of it. What a document contributes to path statistics stays that of
its first judgement, so that the order of revising does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from urltree.document import Document, kept_text
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site.packed_document import pack
from urltree.site.row import Row, Verdict
from urltree.tree.window import Eviction

ENOUGH = 20  # documents that count
MAX_BYTES = 1 << 20  # of a domain's kept documents; what goes beyond is not judged again


class Revision(NamedTuple):
    """A document that was judged again.

    Attributes:
        row: encoded, to be put under its id.
        verdict: to be published; None where the text is what it was.
    """

    row: bytes
    verdict: Verdict | None


class FirstPages:
    """Which documents of a domain are kept; their bytes are the caller's to store.

    Args:
        eviction: of the domain; none is kept where it never has enough.
        is_on: whether any is.
    """

    __slots__ = ("_sizes", "is_on")

    def __init__(self, eviction: Eviction | None, *, is_on: bool) -> None:
        self.is_on = is_on and (eviction is None or eviction.max_documents >= ENOUGH)
        self._sizes: dict[bytes, int] = {}

    def recall(
        self, kept: Iterable[tuple[bytes, int]], is_known: Callable[[bytes], bool]
    ) -> list[bytes]:
        """Take up again what is kept of a domain that was rebuilt.

        Args:
            kept: ids and sizes of all of its documents that are stored.
            is_known: whether a document is in the domain's window.

        Returns:
            Ids of those to drop: their rows are gone, or nothing is judged again any more.
        """
        dropped = []
        for document_id, size in kept:
            if self.is_on and is_known(document_id):
                self._sizes[document_id] = size
            else:
                dropped.append(document_id)
        return dropped

    def drop(self, document_id: bytes) -> bool:
        """A document is kept no longer; returns whether it was."""
        return self._sizes.pop(document_id, None) is not None

    def due(self, documents: int) -> list[bytes]:
        """Ids of those that are to be judged again, once so many documents count."""
        return sorted(self._sizes) if documents >= ENOUGH else []

    def keep(self, document: Document, row: Row, documents: int) -> tuple[Row, bytes | None]:
        """Decide whether to keep a document that was judged just now.

        The paper's heuristics, which give no reasons, are as the paper says: one verdict.

        Args:
            document: one of the domain.
            row: of it.
            documents: that count, itself among them.

        Returns:
            Its row, and the bytes to keep it as; None where it is not kept.
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
        """The bytes of a replay that waits: what was put before a crash may be missing."""
        if not (self.is_on and row.waits and row.tokenizer == TOKENIZER_VERSION):
            return None
        packed = pack(document)
        self._sizes[document.key_bytes] = len(packed)
        return packed

    def revise(
        self, document: Document, stored: bytes | None, judge: Callable[[Document], Verdict]
    ) -> Revision | None:
        """Judge a kept document again; one that was, before a crash, says the same again.

        Args:
            document: as it was kept.
            stored: the row under its id, None where there is none.
            judge: by all that is known now.

        Returns:
            None where the row is gone, or of another version of the page.
        """
        self.drop(document.key_bytes)
        row = None if stored is None else Row.decode(stored)
        if row is None or row.origin != document.origin:
            return None
        if row.waits:
            verdict = replace(judge(document), revision=1)
            former, now = row.verdict.boilerplate, verdict.boilerplate
            is_other = kept_text(document, former) != kept_text(document, now)
            row = replace(row, waits=False, revised=verdict if is_other else None)
        return Revision(row.encode(), row.revised)
