"""documents, internal: a page with its key, taken apart into text blocks.

Blocks and elements are JSON arrays, in the order of `TextBlock` and `Element`: a page of 120
blocks is written and read in about 100 µs (`bench/`). It is read column by column, for checks in C
cost a tenth of a check for each block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from functools import partial
from itertools import chain, count
from operator import lt
from typing import Any

from models.origin import Origin
from models.record import SCHEMA, malformed, read, write
from urltree.document import Document
from urltree.page import microseconds
from urltree.text_block import Element, TextBlock

FIELDS = tuple(f.name for f in fields(Document))

_ID = re.compile(r"[0-9a-f]{32}")
_TEXTS = ("domain", "url_key")
_OPTIONAL_TEXTS = (
    *("url", "response_url", "title", "description", "published", "fetched_at"),
    *("language", "canonical", "author"),
)
_U16 = 2**16  # versions are stored in 16 bits, see `urltree.row`
_U64 = 2**64

# `_make` would be a frame of Python for each
_element = partial(tuple.__new__, Element)
_text_block = partial(tuple.__new__, TextBlock)


def encode(document: Document) -> bytes:
    """The record of a document."""
    record: dict[str, Any] = {name: getattr(document, name) for name in FIELDS}
    record["meta"] = dict(document.meta) or None
    record["json_ld"] = document.json_ld or None
    # orjson writes tuples, not their subclasses
    record["blocks"] = [tuple(block) for block in document.blocks]
    record["elements"] = [tuple(element) for element in document.elements]
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
    record["elements"] = _elements(record["elements"])
    record["blocks"] = _blocks(record["blocks"], len(record["elements"]))
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


def _strings(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not _are(values, str):
        raise malformed(f"{name}: should be a list of strings")
    return tuple(values)


def _elements(rows: Any) -> tuple[Element, ...]:
    if rows == []:
        return ()
    tags, parents, tokens = _columns("elements", rows, len(Element._fields))
    if not _are(tags, str) or not _are(parents, int) or min(parents) < -1:
        raise malformed("elements: should be [tag, parent, tokens] each")
    if not all(map(lt, parents, count())):  # or a path would have no end
        raise malformed("elements: parents should stand before their children")
    if not _are(tokens, list) or not _are(chain.from_iterable(tokens), str):
        raise malformed("elements: tokens should be a list of strings")
    return tuple(map(_element, zip(tags, parents, map(tuple, tokens), strict=True)))


def _blocks(rows: Any, elements: int) -> tuple[TextBlock, ...]:
    if rows == []:
        return ()
    text, element, heading, link_share, hidden, block_hash = _columns("blocks", rows, 6)
    numbers = (element, heading, block_hash)
    if not (_are(text, str) and _are(link_share, float, int) and _are(hidden, bool)):
        raise malformed(f"blocks: should be [{', '.join(TextBlock._fields)}] each")
    if not all(_are(column, int) for column in numbers):
        raise malformed(f"blocks: should be [{', '.join(TextBlock._fields)}] each")
    if min(element) < 0 or max(element) >= elements:
        raise malformed("blocks: an element is not in the table")
    if min(heading) < 0 or min(block_hash) < 0 or max(block_hash) >= _U64:
        raise malformed("blocks: a number is out of bounds")
    return tuple(map(_text_block, rows))


def _columns(name: str, rows: Any, width: int) -> list[tuple[Any, ...]]:
    """Rows of equal width, turned by a quarter."""
    if not isinstance(rows, list) or not _are(rows, list) or set(map(len, rows)) != {width}:
        raise malformed(f"{name}: should be a list of lists of {width}")
    return list(zip(*rows, strict=True))


def _are(values: Iterable[Any], *kinds: type) -> bool:
    """Whether all are of exactly these types: to Python a bool is an int, on the wire it is not."""
    return set(map(type, values)).issubset(kinds)
