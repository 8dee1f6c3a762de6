"""documents, an internal topic: pages with their URL keys, split into text blocks.

Blocks and elements are written as tables, with a JSON array for each column. So each name is
written once, and msgspec checks a column in C, which costs a tenth of a check of each block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from itertools import count
from operator import lt
from typing import Annotated, Any

from msgspec import Meta, Struct

from models.origin import Origin
from models.record import (
    SCHEMA,
    Count,
    HexId,
    NonEmpty,
    check_fields,
    malformed,
    read_versioned,
    write_fields,
)
from urltree.document import Document, FoundMetadata
from urltree.html.blocks import Element, TextBlock
from urltree.page import known_content_from, microseconds

FIELDS = tuple(f.name for f in fields(Document))

StoredVersion = Annotated[int, Meta(ge=0, le=2**16 - 1)]
"""A version number that fits into 16 bits; rows store it so (`urltree.site.row`)."""

# A hash has 64 bits. It has no upper bound here, because bounds of msgspec have at most 63 bits;
# orjson reads an integer of more than 64 bits as a float, which is refused.
BlockHash = Annotated[int, Meta(ge=0)]

# tuple.__new__ is a C function; `_make` would be a Python call for each row
_element = partial(tuple.__new__, Element)
_text_block = partial(tuple.__new__, TextBlock)


class BlockTable(Struct, gc=False):
    """The text blocks of a page as columns of equal length; see `TextBlock` for the fields."""

    text: list[str]
    element: list[Count]
    heading: list[Count]
    link_share: list[float]
    hidden: list[bool]
    hash: list[BlockHash]


class ElementTable(Struct, gc=False):
    """The elements of a page as columns of equal length; see `Element` for the fields."""

    tag: list[str]
    parent: list[Annotated[int, Meta(ge=-1)]]
    tokens: list[tuple[str, ...]]


class DocumentRecord(Struct, kw_only=True, gc=False):
    """The fields of a record of the topic documents; see `Document` for their meaning."""

    id: HexId
    domain: NonEmpty
    url: str | None = None
    response_url: str | None = None
    url_key: NonEmpty
    title: str | None = None
    page_title: str | None = None
    description: str | None = None
    published: str | None = None
    fetched_at: str | None = None
    origin: str
    meta: dict[str, str] | None = None
    tokenizer: StoredVersion
    key_version: StoredVersion
    language: str | None = None
    canonical: str | None = None
    author: str | None = None
    json_ld: tuple[str, ...] | None = None
    blocks: BlockTable
    elements: ElementTable
    blocks_over_cap: Count
    metadata: FoundMetadata | None = None
    vouched: str | None = None
    content_from: str | None = None


def encode(document: Document) -> bytes:
    """Write a document as the value of a record."""
    record: dict[str, Any] = {name: getattr(document, name) for name in FIELDS}
    record["meta"] = dict(document.meta) or None
    record["json_ld"] = document.json_ld or None
    record["content_from"] = None if document.content_from == "page" else document.content_from
    if document.metadata is not None:
        record["metadata"] = document.metadata.to_record()
    record["blocks"] = _columns(document.blocks, TextBlock._fields)
    record["elements"] = _columns(document.elements, Element._fields)
    return write_fields({"schema": SCHEMA, **record})


def decode(value: bytes | None) -> Document:
    """Read a document from the value of a record, and check all fields.

    Raises:
        PageError: `malformed`; the message names the field.
    """
    record = check_fields(read_versioned(value), DocumentRecord)
    _check_origin(record.origin)
    _check_time("published", record.published)
    _check_time("fetched_at", record.fetched_at)
    elements = _elements(record.elements)
    blocks = _blocks(record.blocks, len(elements))
    _check_vouched(record.vouched, len(blocks))
    known = {name: getattr(record, name) for name in FIELDS}
    known |= {"elements": elements, "blocks": blocks}
    known |= {"meta": record.meta or {}, "json_ld": record.json_ld or ()}
    known["content_from"] = known_content_from(record.content_from)
    return Document(**known)


def _check_origin(origin: str) -> None:
    try:
        Origin.parse(origin)
    except ValueError:
        raise malformed(f"origin: should be topic/partition/offset, is {origin[:300]!r}") from None


def _check_time(name: str, stamp: str | None) -> None:
    if stamp is not None:
        try:
            microseconds(stamp)
        except ValueError as error:
            raise malformed(f"{name}: should be an RFC 3339 time: {error}") from None


def _check_vouched(vouched: str | None, blocks: int) -> None:
    if vouched is not None and (len(vouched) != blocks or not set(vouched) <= {"0", "1"}):
        raise malformed(f"vouched: should have a digit, 0 or 1, for each of {blocks} blocks")


def _elements(columns: ElementTable) -> tuple[Element, ...]:
    tags, parents, tokens = columns.tag, columns.parent, columns.tokens
    _check_lengths("elements", tags, parents, tokens)
    if not all(map(lt, parents, count())):
        raise malformed("elements: each parent should come before its children")
    return tuple(map(_element, zip(tags, parents, tokens, strict=True)))


def _blocks(columns: BlockTable, elements: int) -> tuple[TextBlock, ...]:
    table = [getattr(columns, name) for name in TextBlock._fields]
    _check_lengths("blocks", *table)
    if max(columns.element, default=-1) >= elements:
        raise malformed(f"blocks.element: an index is not below {elements}, the number of elements")
    return tuple(map(_text_block, zip(*table, strict=True)))


def _check_lengths(name: str, *columns: Sequence[Any]) -> None:
    if len(set(map(len, columns))) != 1:
        lengths = ", ".join(str(len(column)) for column in columns)
        raise malformed(f"{name}: columns should have equal lengths, have the lengths {lengths}")


def _columns(rows: Sequence[tuple[Any, ...]], fields: tuple[str, ...]) -> dict[str, Any]:
    """Return a column for each field, with the values of all rows."""
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    return dict(zip(fields, columns, strict=True))
