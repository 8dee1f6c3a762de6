"""Tests of records of clean-text and duplicates, which users consume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from models import clean_text, duplicate
from models.duplicate import DuplicateRecord, Urls
from urltree.document import FoundMetadata
from urltree.heuristics.page_kind import PageKind
from urltree.output.extraction import ExtractedBlock, Extraction
from urltree.page import PageError, Reason
from urltree.site.deduplication import Step

SCHEMAS = Path(__file__).parents[2] / "models/schemas"
CLEAN_TEXT = orjson.loads((SCHEMAS / "clean-text.json").read_bytes())
DUPLICATES = orjson.loads((SCHEMAS / "duplicates.json").read_bytes())

EXTRACTION = Extraction(
    status="ok",
    url="http://example.org/a",
    origin="raw-html/3/1042",
    meta={"crawl": "7"},
    id="0123456789abcdef" * 2,
    domain="example.org",
    url_key="https://example.org/a",
    text="Hello\nworld",
    node="example.org",
    support=1,
    heuristic="strict",
    versions={"tokenizer": 1, "key": 1, "heuristic": 1},
)
BLOCKS = (
    ExtractedBlock(0, "Hello", "h1", 1, "content", 1),
    ExtractedBlock(1, "Menu", "li", 0, "boilerplate", reason="link list"),
)
DUPLICATE = DuplicateRecord(
    origin="raw-html/3/1043",
    first_origin="raw-html/3/1042",
    id="0123456789abcdef" * 2,
    step=Step.CANONICAL,
    urls=Urls(None, "http://example.org/a", "http://example.org/a", "https://example.org/a"),
)


def with_fields(**fields: Any) -> Extraction:
    """Return EXTRACTION with some fields replaced."""
    values = {name: getattr(EXTRACTION, name) for name in EXTRACTION.__dataclass_fields__}
    return Extraction(**(values | fields))


def test_the_bytes_of_clean_text_are_pinned() -> None:
    """The bytes must not change.

    Consumers rely on the fields and their order, and a replay writes the same bytes.
    """
    assert clean_text.encode(EXTRACTION) == (
        b'{"schema":1,"id":"0123456789abcdef0123456789abcdef","revision":0,'
        b'"domain":"example.org","url":"http://example.org/a",'
        b'"response_url":"http://example.org/a","url_key":"https://example.org/a",'
        b'"text":"Hello\\nworld","node":"example.org","support":1,"heuristic":"strict",'
        b'"versions":{"tokenizer":1,"key":1,"heuristic":1},"origin":"raw-html/3/1042",'
        b'"meta":{"crawl":"7"}}'
    )


@pytest.mark.parametrize(
    "extraction",
    [
        EXTRACTION,
        with_fields(url=None, response_url="http://example.org/a"),
        with_fields(blocks=BLOCKS),
        with_fields(blocks=()),
        with_fields(title="t", description="d", published="2013-05-01T00:00:00Z"),
        with_fields(language="en", author="a", canonical="c", fetched_at="2013-05-01T00:00:00Z"),
        with_fields(text=""),
        with_fields(markdown="# Hello"),
        with_fields(content_from="feed", support=0, heuristic="none"),
        *(with_fields(page_kind=kind.label) for kind in PageKind),
        with_fields(metadata=FoundMetadata()),
        with_fields(metadata=FoundMetadata(date="2013-05-01", author="a", language="en")),
    ],
)
def test_clean_text_validates(extraction: Extraction) -> None:
    """The record of an extraction fits its schema, whichever fields are set."""
    record = clean_text.decode(clean_text.encode(extraction))
    Draft202012Validator(CLEAN_TEXT).validate(record)


def test_blocks_are_objects_without_unset_fields() -> None:
    """Blocks are objects without unset fields, so consumers read the fields of a block by name."""
    record = clean_text.decode(clean_text.encode(with_fields(blocks=BLOCKS)))
    assert [set(block) - {"position", "text", "tag", "heading"} for block in record["blocks"]] == [
        {"verdict", "count"},
        {"verdict", "reason"},
    ]


def test_the_schema_has_the_fields_of_an_extraction() -> None:
    """The record has all fields of an extraction except those that explain a missing clean text."""
    outcome = {"status", "duplicate_of", "duplicate_step", "error", "message"}
    assert set(CLEAN_TEXT["properties"]) == {*clean_text.FIELDS, "schema"}
    assert set(clean_text.FIELDS) == set(Extraction.__dataclass_fields__) - outcome
    block = CLEAN_TEXT["properties"]["blocks"]["items"]
    assert set(block["properties"]) == set(clean_text.BLOCK_FIELDS)


def test_a_page_without_clean_text_is_not_written() -> None:
    """An extraction without clean text cannot be written; trying to do so is a bug of ours."""
    with pytest.raises(ValueError, match="status duplicate"):
        clean_text.encode(with_fields(status="duplicate"))


@pytest.mark.parametrize("request_url", [None, "http://example.org/a?utm_source=x"])
def test_a_duplicate_survives_the_wire(request_url: str | None) -> None:
    """Encoding and decoding gives an equal duplicate, and the record fits its schema."""
    urls = Urls(request_url, *(DUPLICATE.urls.response, "canonical", "key"))
    record = DuplicateRecord(
        DUPLICATE.origin, DUPLICATE.first_origin, DUPLICATE.id, Step.RULE, urls
    )
    value = duplicate.encode(record)
    assert duplicate.decode(value) == record
    Draft202012Validator(DUPLICATES).validate(orjson.loads(value))


def test_the_schema_has_the_fields_of_a_duplicate() -> None:
    """The schema and the classes of a duplicate have the same fields and steps."""
    fields = DUPLICATES["properties"]
    assert set(fields) == {*DuplicateRecord.__dataclass_fields__, "schema"}
    assert set(fields["urls"]["properties"]) == set(Urls.__dataclass_fields__)
    assert fields["step"]["enum"] == list(Step)


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"{}",
        orjson.dumps(orjson.loads(duplicate.encode(DUPLICATE)) | {"step": "luck"}),
        orjson.dumps(orjson.loads(duplicate.encode(DUPLICATE)) | {"urls": None}),
        orjson.dumps(orjson.loads(duplicate.encode(DUPLICATE)) | {"id": 7}),
        orjson.dumps(orjson.loads(duplicate.encode(DUPLICATE)) | {"schema": 2}),
    ],
)
def test_a_record_that_is_not_a_duplicate_is_malformed(value: bytes | None) -> None:
    """A record that is not a duplicate is malformed.

    An operator's command then reports the fault without a traceback.
    """
    with pytest.raises(PageError) as error:
        duplicate.decode(value)
    assert error.value.reason is Reason.MALFORMED
