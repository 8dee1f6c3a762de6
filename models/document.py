"""documents, internal: a page with its key, taken apart into text blocks.

Blocks and elements are tables, a JSON array for each column: names are written once, and a column
is checked in C, at a tenth of the cost of a check for each block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial
from itertools import chain, count
from operator import lt
from typing import Any

from models.origin import Origin
from models.record import SCHEMA, malformed, read, write
from urltree.document import Document, FoundMetadata
from urltree.html.blocks import Element, TextBlock
from urltree.page import microseconds

FIELDS = tuple(f.name for f in fields(Document))

_ID = re.compile(r"[0-9a-f]{32}")
_TEXTS = ("domain", "url_key")
_OPTIONAL_TEXTS = (
    *("url", "response_url", "title", "page_title", "description", "published", "fetched_at"),
    *("language", "canonical", "author"),
)
_U16 = 2**16  # versions are stored in 16 bits, see `urltree.site.row`

# `_make` would be a frame of Python for each
_element = partial(tuple.__new__, Element)
_text_block = partial(tuple.__new__, TextBlock)


def encode(document: Document) -> bytes:
    """The record of a document."""
    record: dict[str, Any] = {name: getattr(document, name) for name in FIELDS}
    record["meta"] = dict(document.meta) or None
    record["json_ld"] = document.json_ld or None
    if document.metadata is not None:
        record["metadata"] = document.metadata.to_record()
    record["blocks"] = _table(document.blocks, TextBlock._fields)
    record["elements"] = _table(document.elements, Element._fields)
    return write({"schema": SCHEMA, **record})


def decode(value: bytes | None) -> Document:
    """Read a document; what passes breaks nothing downstream.

    Raises:
        PageError: `malformed`, naming the field.
    """
    record = read(value)
    if record.get("schema") != SCHEMA:
        raise malformed(f"schema: should be {SCHEMA}, is {record.get('schema')!r}")
    record = {name: record.get(name) for name in FIELDS}
    _check_texts(record)
    _check_times(record)
    _check_numbers(record)
    record["meta"] = _meta(record["meta"])
    record["json_ld"] = _strings("json_ld", record["json_ld"] or [])
    record["metadata"] = _metadata(record["metadata"])
    record["elements"] = _elements(record["elements"])
    record["blocks"] = _blocks(record["blocks"], len(record["elements"]))
    _check_vouched(record["vouched"], len(record["blocks"]))
    return Document(**record)


def _check_texts(record: dict[str, Any]) -> None:
    for name in _TEXTS:
        if not isinstance(record[name], str) or not record[name]:
            raise malformed(f"{name}: should be a string that is not empty")
    for name in _OPTIONAL_TEXTS:
        if record[name] is not None and not isinstance(record[name], str):
            raise malformed(f"{name}: should be a string")
    if not isinstance(record["id"], str) or not _ID.fullmatch(record["id"]):
        raise malformed("id: should be 32 hexadecimal digits")
    try:
        Origin.parse(record["origin"])
    except (TypeError, ValueError):
        raise malformed("origin: should be topic/partition/offset") from None


def _check_times(record: dict[str, Any]) -> None:
    for name in ("published", "fetched_at"):
        if record[name] is not None:
            try:
                microseconds(record[name])
            except ValueError as error:
                raise malformed(f"{name}: should be an RFC 3339 time: {error}") from None


def _check_numbers(record: dict[str, Any]) -> None:
    for name in ("tokenizer", "key_version"):
        if type(record[name]) is not int or not 0 <= record[name] < _U16:
            raise malformed(f"{name}: should be an integer from 0 to 65535")
    if type(record["blocks_over_cap"]) is not int or record["blocks_over_cap"] < 0:
        raise malformed("blocks_over_cap: should be an integer from 0 on")


def _meta(meta: Any) -> dict[str, str]:
    if meta is None:
        return {}
    if not isinstance(meta, dict) or not _are(meta.values(), str):
        raise malformed("meta: should map strings to strings")
    return meta


def _metadata(found: Any) -> FoundMetadata | None:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise malformed("metadata: should be an object")
    try:
        return FoundMetadata.from_record(found)
    except TypeError as error:
        raise malformed(f"metadata.{error}") from None


def _check_vouched(vouched: Any, blocks: int) -> None:
    if vouched is None:
        return
    if not isinstance(vouched, str) or len(vouched) != blocks or not set(vouched) <= {"0", "1"}:
        raise malformed("vouched: should have a digit for each block, 0 or 1")


def _strings(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not _are(values, str):
        raise malformed(f"{name}: should be a list of strings")
    return tuple(values)


def _elements(table: Any) -> tuple[Element, ...]:
    tags, parents, tokens = columns = _columns("elements", table, Element._fields)
    if not (_are(tags, str) and _are(parents, int) and _are(tokens, list)):
        raise malformed("elements: a column is of the wrong type")
    if not _are(chain.from_iterable(tokens), str):
        raise malformed("elements: tokens should be lists of strings")
    if min(parents, default=0) < -1 or not all(map(lt, parents, count())):
        raise malformed("elements: parents should stand before their children")
    columns[2] = map(tuple, tokens)
    return tuple(map(_element, zip(*columns, strict=True)))


def _blocks(table: Any, elements: int) -> tuple[TextBlock, ...]:
    columns = _columns("blocks", table, TextBlock._fields)
    text, element, heading, link_share, hidden, block_hash = columns
    numbers = (element, heading, block_hash)
    if not (_are(text, str) and _are(link_share, float, int) and _are(hidden, bool)):
        raise malformed("blocks: a column is of the wrong type")
    if not all(_are(column, int) and min(column, default=0) >= 0 for column in numbers):
        raise malformed("blocks: element, heading and hash should be integers from 0 on")
    if max(element, default=-1) >= elements:
        raise malformed("blocks: an element is not in the table")
    return tuple(map(_text_block, zip(*columns, strict=True)))


def _columns(name: str, table: Any, fields: tuple[str, ...]) -> list[Any]:
    """The columns of a table in the order of its record's fields, all of one length."""
    if not isinstance(table, dict):
        raise malformed(f"{name}: should be an object of lists")
    columns: list[Any] = [table.get(field) for field in fields]
    if not _are(columns, list) or len(set(map(len, columns))) != 1:
        raise malformed(f"{name}: should be lists of one length: {', '.join(fields)}")
    return columns


def _table(records: Sequence[tuple[Any, ...]], fields: tuple[str, ...]) -> dict[str, Any]:
    """Records of the same fields as columns."""
    columns = zip(*records, strict=True) if records else [()] * len(fields)
    return dict(zip(fields, columns, strict=True))


def _are(values: Iterable[Any], *kinds: type) -> bool:
    """Whether all are of exactly these types: to Python a bool is an int, on the wire it is not."""
    return set(map(type, values)).issubset(kinds)
