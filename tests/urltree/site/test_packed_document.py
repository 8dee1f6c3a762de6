"""Packed documents: a document survives packing, and damaged bytes are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import zstandard

from tests.urltree.builders import document
from urltree.document import Document, FoundMetadata
from urltree.html.blocks import Element, TextBlock
from urltree.site.packed_document import pack, unpack
from urltree.site.row import RowError

FULL = replace(
    document(1, [7], published="2026-01-01T00:00:00Z"),
    title="Tïtle",
    meta={"n": "1"},
    json_ld=("{}",),
    elements=(Element("div", -1, ("entry", "#main")), Element("p", 0, ())),
    blocks=(TextBlock("One.", 1, 0, 0.25, hidden=True, hash=2**64 - 1),),
    metadata=FoundMetadata(date="2026-01-01"),
    page_title="Title | Site",
)


@pytest.mark.parametrize(
    "kept", [pytest.param(FULL, id="every field"), pytest.param(document(1, []), id="no block")]
)
def test_what_is_packed_is_unpacked(kept: Document) -> None:
    """A document keeps every field, because it is judged and published again."""
    assert unpack(pack(kept)) == kept


def test_stored_bytes_are_pinned() -> None:
    """Stored bytes are pinned, because they outlive a deploy; a change must raise the version."""
    record = zstandard.decompress(pack(FULL)[1:])
    assert pack(FULL)[0] == 1
    assert b'"blocks":[["One."],[1],[0],[0.25],[true],[18446744073709551615]]' in record
    assert b'"elements":[["div","p"],[-1,0],[["entry","#main"],[]]]' in record
    assert b"content_from" not in record  # former releases would refuse it


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\2" + pack(FULL)[1:], id="of a later version"),
        pytest.param(pack(FULL)[:-5], id="cut short"),
        pytest.param(b"\1" + zstandard.compress(b"{}"), id="without fields"),
    ],
)
def test_what_is_no_document_is_refused(stored: bytes) -> None:
    """Bytes that are not a packed document raise RowError; to skip them would lose a revision."""
    with pytest.raises(RowError):
        unpack(stored)
