"""Tests of records of raw-html, which users publish in two forms, with and without faults."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from models.raw_html import decode, encode, to_record
from urltree.page import FIELDS, Page, PageError, Reason

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/raw-html.json").read_bytes())
URL = "https://example.org/a"

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
times = st.sampled_from(["2013-05-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
pages = st.builds(
    Page,
    url=words,
    html=st.text(st.characters(codec="utf-8")) | st.binary(),
    response_url=st.none() | words,
    content_type=st.none() | words,
    status=st.none() | st.integers(0, 999),
    title=st.none() | words,
    description=st.none() | words,
    published=st.none() | times,
    fetched_at=st.none() | times,
    redirects=st.lists(words, max_size=20).map(tuple),
    feed=st.none() | words,
    meta=st.dictionaries(words, words, max_size=5),
    content_from=st.sampled_from(["page", "feed"]),
)


def as_headers(page: Page) -> list[tuple[str, bytes]]:
    """Return a page's fields as headers, for the form in which the value is the HTML."""
    headers = [(f"meta.{name}", text.encode()) for name, text in page.meta.items()]
    for name in FIELDS:
        value = getattr(page, name)
        if name == "redirects":
            headers.append((name, orjson.dumps(value)))
        elif name not in ("html", "meta") and value is not None:
            headers.append((name, str(value).encode()))
    return headers


@settings(deadline=None)
@given(pages)
def test_a_page_survives_the_wire(page: Page) -> None:
    """Encoding and decoding gives the same page, and the record fits its schema."""
    value = encode(page)
    assert decode(value) == page
    Draft202012Validator(SCHEMA).validate(orjson.loads(value))


@settings(deadline=None)
@given(pages)
def test_the_form_with_headers_gives_the_same_page(page: Page) -> None:
    """Both forms of a page give the same fields."""
    html = page.html if isinstance(page.html, bytes) else page.html.encode()
    found = decode(html, as_headers(page))
    assert {name: getattr(found, name) for name in FIELDS if name != "html"} == {
        name: getattr(page, name) for name in FIELDS if name != "html"
    }
    assert found.html == html


def test_the_schema_has_the_fields_of_a_page() -> None:
    """The schema describes exactly the fields of a page that are accepted."""
    assert set(SCHEMA["properties"]) == {*FIELDS, "html_base64", "schema"}
    assert all("description" in field for field in SCHEMA["properties"].values())


def test_unknown_fields_and_headers_are_ignored() -> None:
    """Unknown fields and headers are ignored, because a producer may write more than we read."""
    assert decode(b'{"url": "u", "html": "h", "crawler": {"a": 1}}') == Page(url="u", html="h")
    assert decode(b"h", [("url", b"u"), ("traceparent", b"\xff")]) == Page(url="u", html=b"h")


@pytest.mark.parametrize("value", [b"page", b"auto", b"\xff", b"", b"Feed", None])
def test_an_unknown_source_of_the_content_is_the_page(value: bytes | None) -> None:
    """A header `content_from` with any other value than `feed` counts as `page`."""
    page = decode(b"h", [("url", b"u"), ("content_from", value)])
    assert page == Page(url="u", html=b"h")


def test_the_record_of_a_page_does_not_say_where_its_content_is_from() -> None:
    """The field is written only for full text, so the records of pages are as before."""
    page = Page(url="u", html="h")
    full = Page(url="u", html="h", content_from="feed")
    assert b"content_from" not in encode(page)
    assert b'"content_from":"feed"' in encode(full)
    assert to_record(page) == (b"h", [("schema", b"1"), ("url", b"u")])
    assert to_record(full) == (
        b"h",
        [("schema", b"1"), ("url", b"u"), ("content_from", b"feed")],
    )


def test_headers_of_others_do_not_make_a_record_the_second_form() -> None:
    """A JSON record with tracing headers or with our own headers is still read as JSON."""
    headers = [("traceparent", b"00-1"), ("urltree-origin", b"raw-html/0/1")]
    assert decode(b'{"url": "u", "html": "h"}', headers) == Page(url="u", html="h")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (b"", "not JSON"),
        (b"  \n", "not JSON"),
        (b"<html>", "not JSON"),
        (b'{"url": "u", "html": "h"', "not JSON"),
        (b'{"url": "u", "html": "\xff"}', "not JSON"),
        (bytes(range(256)), "not JSON"),
        (b"[1]", "should be a JSON object, is list"),
        (b"null", "should be a JSON object, is NoneType"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b'["\\ud800",' + b"[" * 100_000, "not JSON"),
        (b'{"url": "u"}', "exactly one of html and html_base64"),
        (b'{"url": 1, "html": "h"}', "url: should be a string, is int"),
        (b'{"url": "u", "html_base64": "@"}', "html_base64: should be base64"),
        (b'{"url": "u", "html": "h", "schema": 2}', "schema: should be 1"),
        (b'{"url": "u", "html": "h", "published": "May"}', "published: should be an RFC 3339"),
    ],
)
def test_a_value_that_is_no_page_is_malformed(value: bytes | None, words: str) -> None:
    """A value that is no page raises a `PageError` whose message names the fault."""
    with pytest.raises(PageError, match=words) as error:
        decode(value)
    assert error.value.reason is Reason.MALFORMED


@pytest.mark.parametrize(
    ("value", "header", "words"),
    [
        (None, ("title", b"t"), "null"),
        (b"h", ("title", b"\xff"), "header title: should be UTF-8"),
        (b"h", ("meta.a", b"\xff"), r"header meta\.a: should be UTF-8"),
        (b"h", ("status", b"ok"), "header status: should be an integer"),
        (b"h", ("status", b"9" * 5_000), "header status: should be an integer"),
        (b"h", ("redirects", b"http://a"), "header redirects: is not JSON"),
        (b"h", ("redirects", b"7"), "redirects: should be a list of strings"),
    ],
)
def test_headers_that_are_no_page_are_malformed(
    value: bytes | None, header: tuple[str, bytes], words: str
) -> None:
    """The form with headers is checked like the form in JSON."""
    with pytest.raises(PageError, match=words) as error:
        decode(value, [("url", b"u"), header])
    assert error.value.reason is Reason.MALFORMED


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"a\ud800b", "a\ufffdb"),
        (r"\udc00\ud800", "\ufffd\ufffd"),
        (r"\ud83d\ude00 \uDBFF", "\U0001f600 \ufffd"),
        (r"\ud800\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud800 \udfff", "\\ud800 \ufffd"),
        (r"\"\n\u00e9\ud800", '"\né\ufffd'),
    ],
)
def test_lone_surrogates_become_replacement_characters(escaped: str, text: str) -> None:
    """Escapes of lone surrogates, which JSON allows, are replaced.

    The rest of the page is unchanged.
    """
    assert decode(f'{{"url": "u", "html": "{escaped}"}}'.encode()).html == text


def test_lone_surrogates_in_a_page_are_written_as_replacement_characters() -> None:
    """A page with lone surrogates can be published, because these are replaced.

    A lenient reader may have read such a page.
    """
    page = Page(url="u", html="a\ud800b\ud83d\ude00", meta={"k": "\udfff"})
    assert decode(encode(page)) == Page(url="u", html="a\ufffdb\U0001f600", meta={"k": "\ufffd"})


def test_unset_fields_are_not_written() -> None:
    """Fields without a value are not written, so that a small page is a small record."""
    assert orjson.loads(encode(Page(url=URL, html=b"\xff", status=0))) == {
        "schema": 1,
        "url": URL,
        "status": 0,
        "html_base64": base64.b64encode(b"\xff").decode(),
    }


@settings(deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | words, st.lists))
def test_any_json_in_any_field_is_a_page_or_malformed(value: Any) -> None:
    """A field with any JSON value gives a page or a `PageError`, and no other error."""
    for name in (*FIELDS, "html_base64", "schema"):
        record = {"url": "u", "html": "h", name: value}
        try:
            decode(orjson.dumps(record, option=orjson.OPT_PASSTHROUGH_DATACLASS))
        except PageError as error:
            assert error.reason is Reason.MALFORMED  # noqa: PT017
        except orjson.JSONEncodeError:
            pass  # an integer of more than 64 bits, which orjson refuses to write
