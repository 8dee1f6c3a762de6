"""Tests of records of fetches, and of fetched pages in the form with headers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models import raw_html
from models.crawl.fetch import FetchRequest, decode, encode
from urltree.page import Page, PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/fetches.json").read_bytes())
URL = "https://example.org/a"

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
some = st.none() | words
fetches = st.builds(
    FetchRequest,
    url=words,
    redirects=st.lists(words, max_size=5).map(tuple),
    feed=some,
    title=some,
    description=some,
    published=some,
    meta=st.dictionaries(words, words, max_size=5),
    attempt=st.integers(0, 20),
    not_before=st.floats(0, 4e9),
    trouble=some,
)


@settings(deadline=None)
@given(fetches)
def test_a_fetch_survives_the_wire(fetch: FetchRequest) -> None:
    """Encoding and decoding gives the same request, and the record fits its schema."""
    value = encode(fetch)
    assert decode(value) == fetch
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


def test_the_schema_has_every_field() -> None:
    """The schema has exactly the fields of a request."""
    assert set(SCHEMA["properties"]) == {"schema", *FetchRequest.__slots__}


def test_the_target_is_the_last_redirect() -> None:
    """The target is the last redirect, or the page's own URL without redirects."""
    assert FetchRequest(url=URL).target == URL
    assert FetchRequest(url=URL, redirects=("https://b.example/", "https://c.example/")).target == (
        "https://c.example/"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": 2},
        {"url": None},
        {"url": 7},
        {"title": []},
        {"redirects": "https://b.example/"},
        {"redirects": [1]},
        {"meta": {"a": 1}},
        {"attempt": -1},
        {"attempt": True},
        {"not_before": "now"},
    ],
)
def test_values_that_the_schema_refuses_are_malformed(fields: dict[str, Any]) -> None:
    """The reader and the schema refuse the same values."""
    record = {"schema": 1, "url": URL} | fields
    assert not Draft202012Validator(SCHEMA).is_valid(record)
    with pytest.raises(PageError) as caught:
        decode(orjson.dumps(record))
    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("value", [None, b"", b"[]", b"\xff"])
def test_a_value_that_is_not_an_object_is_malformed(value: bytes | None) -> None:
    """A value that is not a JSON object is malformed and causes no crash."""
    with pytest.raises(PageError):
        decode(value)


def test_a_page_in_its_header_form_is_read_as_it_was() -> None:
    """A page in the form with headers is read without changes.

    Its value has the original bytes, and every field is a header.
    """
    page = Page(
        url=URL,
        html=b"<p>\xff caf\xe9",
        response_url="https://example.org/b",
        content_type="text/html; charset=latin-1",
        status=200,
        title="Käse",
        description="<p>Brie</p>",
        published="2026-01-01T00:00:00Z",
        fetched_at="2026-01-02T03:04:05.678901Z",
        redirects=("https://example.org/c",),
        feed="https://example.org/feed",
        meta={"link.canonical": URL, "ö": "ü"},
    )
    assert raw_html.decode(*raw_html.to_record(page)) == page


def test_a_field_that_is_not_set_is_no_header() -> None:
    """A field without a value has no header, and a lone surrogate in a field causes no error."""
    value, headers = raw_html.to_record(Page(url=URL, html="<p>a", title="\ud800"))
    assert (value, [name for name, _ in headers]) == (b"<p>a", ["schema", "url", "title"])
    assert raw_html.decode(value, headers).title == "?"
