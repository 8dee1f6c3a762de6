"""Tests of records of documents, which are checked so that no record crashes a worker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models.document import FIELDS, decode, encode
from urltree.document import Document, FoundMetadata
from urltree.html.blocks import Element, TextBlock
from urltree.page import PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/documents.json").read_bytes())

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
blocks = st.builds(
    TextBlock,
    text=words,
    element=st.integers(0, 1),
    heading=st.integers(0, 6),
    link_share=st.integers(0, 100).map(lambda percent: percent / 100),
    hidden=st.booleans(),
    hash=st.integers(0, 2**64 - 1),
)
found = st.builds(
    FoundMetadata,
    date=st.none() | st.just("2013-05-01"),
    author=st.none() | words,
    description=st.none() | words,
)
documents = st.builds(
    Document,
    id=st.binary(min_size=16, max_size=16).map(bytes.hex),
    domain=words,
    url=st.none() | words,
    response_url=st.none() | words,
    url_key=words,
    title=st.none() | words,
    page_title=st.none() | words,
    description=st.none() | words,
    published=st.none() | st.just("2013-05-01T00:00:00Z"),
    fetched_at=st.none() | st.just("9999-12-31T23:59:59-14:00"),
    origin=st.just("raw-html/3/1042"),
    meta=st.dictionaries(words, words, max_size=3),
    tokenizer=st.integers(0, 65_535),
    key_version=st.integers(0, 65_535),
    language=st.none() | words,
    canonical=st.none() | words,
    author=st.none() | words,
    json_ld=st.lists(words, max_size=2).map(tuple),
    blocks=st.lists(blocks, max_size=5).map(tuple),
    elements=st.just((Element("body", -1, ()), Element("div", 0, ("nav", "top")))),
    blocks_over_cap=st.integers(0, 9),
    metadata=st.none() | found,
    content_from=st.sampled_from(["page", "feed"]),
)

DOCUMENT = Document(
    id="0123456789abcdef" * 2,
    domain="example.org",
    url="http://example.org/a?utm_source=x",
    response_url=None,
    url_key="https://example.org/a",
    title=None,
    description=None,
    published="2013-05-01T00:00:00Z",
    fetched_at=None,
    origin="raw-html/3/1042",
    meta={},
    tokenizer=1,
    key_version=1,
    language="en",
    canonical=None,
    author=None,
    json_ld=(),
    blocks=(TextBlock("Hello", 0, 1, 0.25, hidden=False, hash=2**64 - 1),),
    elements=(Element("h1", -1, ("title",)),),
    blocks_over_cap=0,
)


def changed(**fields: Any) -> bytes:
    """Return the record of DOCUMENT with some fields replaced by values of any type."""
    return orjson.dumps(orjson.loads(encode(DOCUMENT)) | fields)


@settings(deadline=None)
@given(documents)
def test_a_document_survives_the_wire(document: Document) -> None:
    """Encoding and decoding gives an equal document, and the record fits its schema."""
    value = encode(document)
    assert decode(value) == document
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


def test_the_bytes_are_pinned() -> None:
    """The bytes must not change, because the next release reads the records of this one."""
    assert encode(DOCUMENT) == (
        b'{"schema":1,"id":"0123456789abcdef0123456789abcdef","domain":"example.org",'
        b'"url":"http://example.org/a?utm_source=x","url_key":"https://example.org/a",'
        b'"published":"2013-05-01T00:00:00Z","origin":"raw-html/3/1042","tokenizer":1,'
        b'"key_version":1,"language":"en",'
        b'"blocks":{"text":["Hello"],"element":[0],"heading":[1],"link_share":[0.25],'
        b'"hidden":[false],"hash":[18446744073709551615]},'
        b'"elements":{"tag":["h1"],"parent":[-1],"tokens":[["title"]]},"blocks_over_cap":0}'
    )


def test_the_schema_has_the_fields_of_a_document() -> None:
    """The schema and the classes of a document have the same fields."""
    assert set(SCHEMA["properties"]) == {*FIELDS, "schema"}
    for name, record in (("blocks", TextBlock), ("elements", Element)):
        described = SCHEMA["properties"][name]
        assert tuple(described["properties"]) == record._fields == tuple(described["required"])


def test_unknown_fields_are_ignored() -> None:
    """Unknown fields of a record are ignored, because a newer `normalize` may write more fields."""
    assert decode(changed(simhash=7)) == DOCUMENT


BLOCKS = {
    "text": ["Hello"],
    "element": [0],
    "heading": [1],
    "link_share": [0.25],
    "hidden": [False],
    "hash": [7],
}
ELEMENTS = {"tag": ["h1"], "parent": [-1], "tokens": [[]]}


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": 2},
        {"id": "xyz"},
        {"id": "A" * 32},
        {"id": None},
        {"domain": ""},
        {"domain": 7},
        {"url": 7},
        {"url_key": None},
        {"origin": "raw-html/3"},
        {"origin": None},
        {"published": "May"},
        {"fetched_at": 7},
        {"meta": {"a": 1}},
        {"meta": ["a"]},
        {"tokenizer": 65_536},
        {"tokenizer": True},
        {"key_version": -1},
        {"json_ld": "a"},
        {"json_ld": [1]},
        {"metadata": "2013-05-01"},
        {"metadata": {"date": 2013}},
        {"blocks_over_cap": None},
        {"blocks": None},
        {"blocks": {}},
        {"blocks": "Hello"},
        {"blocks": [["Hello", 0, 1, 0.25, False, 7]]},
        *({"blocks": BLOCKS | {name: None}} for name in BLOCKS),
        *({"blocks": BLOCKS | {name: []}} for name in BLOCKS),
        *({"blocks": BLOCKS | {name: [None]}} for name in BLOCKS),
        {"blocks": BLOCKS | {"text": "H"}},
        {"blocks": BLOCKS | {"element": [1]}},
        {"blocks": BLOCKS | {"element": [-1]}},
        {"blocks": BLOCKS | {"heading": [True]}},
        {"blocks": BLOCKS | {"hidden": [0]}},
        {"blocks": BLOCKS | {"hash": [-1]}},
        {"blocks": BLOCKS | {"hash": [2.0**64]}},
        {"elements": None},
        {"elements": [["h1", -1, []]]},
        *({"elements": ELEMENTS | {name: None}} for name in ELEMENTS),
        *({"elements": ELEMENTS | {name: []}} for name in ELEMENTS),
        *({"elements": ELEMENTS | {name: [None]}} for name in ELEMENTS),
        {"elements": ELEMENTS | {"parent": [-2]}},
        {"elements": ELEMENTS | {"parent": [0]}},
        {"elements": ELEMENTS | {"tokens": ["ab"]}},
        {"elements": ELEMENTS | {"tokens": [[1]]}},
    ],
)
def test_a_record_that_is_no_document_is_malformed(fields: dict[str, Any]) -> None:
    """A record with any fault is malformed and becomes a dead letter, and never causes a crash."""
    with pytest.raises(PageError) as error:
        decode(changed(**fields))
    assert error.value.reason is Reason.MALFORMED


def test_an_integer_beyond_64_bits_is_malformed() -> None:
    """An integer of more than 64 bits is malformed, because a hash has 64 bits."""
    value = encode(DOCUMENT).replace(b"18446744073709551615", b"18446744073709551616")
    with pytest.raises(PageError):
        decode(value)


@pytest.mark.parametrize("value", [None, b"", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_a_value_that_is_no_record_is_malformed(value: bytes | None) -> None:
    """Null values and bytes of other programs are malformed, too."""
    with pytest.raises(PageError) as error:
        decode(value)
    assert error.value.reason is Reason.MALFORMED


def test_a_page_without_text_is_a_document() -> None:
    """A page without text is a document without blocks and elements."""
    empty = replace(DOCUMENT, blocks=(), elements=())
    assert decode(encode(empty)) == empty
