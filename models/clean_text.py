"""clean-text, the public output topic: the text of a page without the boilerplate of its site.

A record has no processing time, and the order of its fields is fixed, so that a replay writes the
same bytes. The topic is compacted; the key of a record is the document id.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from models.record import SCHEMA, malformed, read_versioned, write_fields
from urltree.output.extraction import ExtractedBlock, Extraction

FIELDS = (
    *("id", "revision", "domain", "url", "response_url", "url_key", "title", "description"),
    *("published", "fetched_at", "page_kind", "text", "markdown", "blocks", "node", "support"),
    *("heuristic", "versions", "origin", "language", "author", "canonical"),
    *("content_from", "meta", "metadata"),
)
BLOCK_FIELDS = tuple(f.name for f in fields(ExtractedBlock))


def encode(extraction: Extraction) -> bytes:
    """Write an extraction as the value of a record; fields that are None are left out.

    Raises:
        ValueError: the status of the extraction is not `ok`.
    """
    if extraction.status != "ok":
        raise ValueError(
            f"{extraction.origin}: an extraction with status {extraction.status} has no clean text"
        )
    record: dict[str, Any] = {name: getattr(extraction, name) for name in FIELDS}
    record["response_url"] = extraction.response_url or extraction.url
    record["meta"] = dict(extraction.meta)
    if extraction.versions is not None:
        record["versions"] = dict(extraction.versions)
    if extraction.metadata is not None:
        record["metadata"] = extraction.metadata.to_record()
    if extraction.blocks is not None:
        record["blocks"] = [_block(block) for block in extraction.blocks]
    return write_fields({"schema": SCHEMA, **record})


def decode(value: bytes | None) -> dict[str, Any]:
    """Read the fields of a record; fields that were None are missing in the result.

    Raises:
        PageError: `malformed`: the value is not a record of this topic.
    """
    return read_versioned(value)


def read_origin(value: bytes | None) -> str | None:
    """Return the origin of a record, or None for a tombstone.

    Raises:
        PageError: `malformed`: the value is not a record of this topic.
    """
    if value is None:
        return None
    origin = decode(value).get("origin")
    if not isinstance(origin, str):
        raise malformed("origin: should be a string")
    return origin


def _block(block: ExtractedBlock) -> dict[str, Any]:
    return {name: value for name, value in asdict(block).items() if value is not None}
