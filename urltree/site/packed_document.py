"""A packed document: the stored form of a first page, which is judged again later.

The bytes are a version and compressed JSON. Blocks and elements are stored as columns, because
columns compress better than rows. A packed document has about a tenth of the size of its HTML.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import orjson
import zstandard

from urltree.document import Document, FoundMetadata
from urltree.html.blocks import Element, TextBlock
from urltree.html.encoding import scrub
from urltree.site.row import RowError

_VERSION = 1
# Only judged documents are stored, and their `content_from` is the default. It is left out, because
# former releases refuse a field that they do not know.
_NAMES = tuple(f.name for f in fields(Document) if f.name != "content_from")
# MemoryError: zstd allocates the size that its header names, and a damaged header names any size.
_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, MemoryError)


def pack(document: Document) -> bytes:
    """Return the bytes in which a document is stored."""
    record: dict[str, Any] = {name: getattr(document, name) for name in _NAMES}
    record["meta"] = dict(document.meta)
    record["blocks"] = _columns(document.blocks)
    record["elements"] = _columns(document.elements)
    if document.metadata is not None:
        record["metadata"] = document.metadata.to_record()
    return bytes([_VERSION]) + zstandard.ZstdCompressor().compress(_json(record))


def unpack(stored: bytes) -> Document:
    """Return the document that `pack` has encoded.

    Raises:
        RowError: the bytes are damaged, or this release does not know their version.
    """
    if not stored or stored[0] != _VERSION:
        raise RowError(
            f"first page: its version is {stored[:1].hex() or 'missing'}, but this release reads "
            f"version {_VERSION}; run the release that wrote it"
        )
    try:
        record = orjson.loads(zstandard.decompress(stored[1:]))
        tags, parents, tokens = record["elements"] or ((), (), ())
        elements = zip(tags, parents, map(tuple, tokens), strict=True)
        record["elements"] = tuple(map(Element._make, elements))
        blocks = zip(*record["blocks"], strict=True)
        record["blocks"] = tuple(map(TextBlock._make, blocks))
        record["json_ld"] = tuple(record["json_ld"])
        if record["metadata"] is not None:
            record["metadata"] = FoundMetadata.from_record(record["metadata"])
        return Document(**record)
    except (*_DAMAGED, zstandard.ZstdError) as error:
        raise RowError(
            f"stored first page of a site: {len(stored)} bytes cannot be read: {error}"
        ) from error


def _json(record: dict[str, Any]) -> bytes:
    """Write a record as JSON. Lone surrogates in strings of the library's user become U+FFFD."""
    try:
        return orjson.dumps(record)
    except orjson.JSONEncodeError:
        return scrub(json.dumps(record, ensure_ascii=False)).encode()


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True))
