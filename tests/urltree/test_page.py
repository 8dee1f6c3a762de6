"""Pages: the checks of their fields, and their final URL and time."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from urltree.page import (
    FIELDS,
    MAX_META_BYTES,
    MAX_REDIRECTS,
    Page,
    PageError,
    Reason,
    microseconds,
)

RECORD: dict[str, Any] = {
    "schema": 1,
    "url": "http://example.org/a",
    "response_url": "https://example.org/a",
    "html": "<p>Words</p>",
    "content_type": "text/html; charset=utf-8",
    "status": 200,
    "title": "Title",
    "description": "Description",
    "published": "2013-10-27T08:00:00+01:00",
    "fetched_at": "2013-10-27T09:00:00Z",
    "redirects": ["http://example.org/b"],
    "feed": "https://example.org/feed",
    "meta": {"id": "17"},
    "content_from": "feed",
}


def test_a_page_has_every_field_of_its_record() -> None:
    """A page has every field of its record, with the same value."""
    page = Page.from_fields(RECORD)
    assert {"schema": 1} | {
        name: list(value) if name == "redirects" else value
        for name, value in ((name, getattr(page, name)) for name in FIELDS)
    } == RECORD
    assert tuple(field.name for field in fields(Page)) == FIELDS


def test_all_but_html_may_be_missing() -> None:
    """Only `html` is required here; admission decides later whether a URL is needed."""
    assert Page.from_fields({"html": ""}) == Page(url=None, html="")


def test_null_is_as_good_as_missing() -> None:
    """A null field counts as missing, because some producers write null for unknown values."""
    nothing = dict.fromkeys([*RECORD, "html_base64"]) | {"schema": 1, "html": "a"}
    assert Page.from_fields(nothing) == Page(url=None, html="a")


@pytest.mark.parametrize("value", ["page", "FEED", "", None, 1, True, ["feed"], {"feed": 1}])
def test_any_other_source_of_the_content_is_the_page(value: object) -> None:
    """Former releases ignored `content_from`, so no value of any type refuses a page."""
    assert Page.from_fields({"html": "a", "content_from": value}).content_from == "page"


def test_unknown_fields_are_ignored() -> None:
    """Unknown fields are ignored, because newer producers may send more fields."""
    assert Page.from_fields({"html": "a", "colour": "red"}) == Page(url=None, html="a")


def test_bytes_come_as_base64() -> None:
    """HTML bytes are base64 in JSON, which has no bytes; the library takes bytes directly."""
    assert Page.from_fields({"html_base64": "PHA+"}).html == b"<p>"
    assert Page.from_fields({"html": b"<p>"}).html == b"<p>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema: should be 1"),
        ({"schema": None}, "schema: should be 1"),
        ({"url": 1}, "url: should be a string, is int"),
        ({"response_url": ["a"]}, "response_url: should be a string, is list"),
        ({"content_type": 1}, "content_type: should be a string, is int"),
        ({"title": {}}, "title: should be a string, is dict"),
        ({"description": 1.5}, "description: should be a string, is float"),
        ({"feed": True}, "feed: should be a string, is bool"),
        ({"html": None}, "html: exactly one of html and html_base64 should be set"),
        ({"html_base64": "YQ=="}, "html: exactly one of html and html_base64 should be set"),
        ({"html": 7}, "html: should be a string, is int"),
        ({"html": None, "html_base64": 7}, "html_base64: should be a string, is int"),
        ({"html": None, "html_base64": "YQ"}, "html_base64: should be base64: Incorrect padding"),
        ({"html": None, "html_base64": "Y!=="}, "html_base64: should be base64: "),
        ({"html": None, "html_base64": "ÿ"}, "html_base64: should be base64: "),
        ({"status": "200"}, "status: should be an integer, is str"),
        ({"status": True}, "status: should be an integer, is bool"),
        ({"published": 1}, "published: should be a string, is int"),
        ({"published": "yesterday"}, "published: should be an RFC 3339 time: "),
        ({"published": "2013-10-27"}, "published: should be an RFC 3339 time: it has no offset"),
        ({"fetched_at": "2013-02-30T00:00:00Z"}, "fetched_at: should be an RFC 3339 time: "),
        ({"fetched_at": "10000-01-01T00:00:00Z"}, "fetched_at: should be an RFC 3339 time: "),
        ({"redirects": "a"}, "redirects: should be a list of strings"),
        ({"redirects": [1]}, "redirects: should be a list of strings"),
        ({"redirects": ["a"] * 21}, "redirects: has 21 entries; at most 20"),
        ({"meta": ["a"]}, "meta: should map strings to strings"),
        ({"meta": {"a": 1}}, "meta: should map strings to strings"),
        ({"meta": {"a": "ö" * 4_096}}, "meta: has 8193 bytes; at most 8192"),
    ],
)
def test_a_malformed_page_says_which_field_and_why(change: dict[str, Any], message: str) -> None:
    """A malformed page raises PageError with one reason code, and a message about the field."""
    with pytest.raises(PageError) as caught:
        Page.from_fields(RECORD | change)
    assert caught.value.reason is Reason.MALFORMED
    assert caught.value.message.startswith(message)
    assert str(caught.value) == caught.value.message


def test_limits_themselves_are_allowed() -> None:
    """A page with exactly MAX_REDIRECTS redirects and MAX_META_BYTES of `meta` is accepted."""
    page = Page.from_fields(
        RECORD
        | {"redirects": ["a"] * MAX_REDIRECTS, "meta": {"a": "ö" * (MAX_META_BYTES // 2 - 1) + "b"}}
    )
    assert len(page.redirects) == MAX_REDIRECTS


def test_the_response_url_decides() -> None:
    """The final URL is the response URL or, without one, the request URL."""
    assert Page.from_fields(RECORD).final_url == "https://example.org/a"
    assert Page(url="http://example.org/a", html="").final_url == "http://example.org/a"
    assert Page(url=None, html="").final_url is None


def test_a_pages_time_is_when_it_was_fetched_else_published() -> None:
    """The time of a page is when it was fetched, else when it was published, else None.

    It is in microseconds since 1970.
    """
    fetched = int(datetime(2013, 10, 27, 9, tzinfo=UTC).timestamp()) * 1_000_000
    assert Page.from_fields(RECORD).time == fetched
    assert Page.from_fields(RECORD | {"fetched_at": None}).time == fetched - 7_200_000_000
    assert Page(url=None, html="").time is None


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1969-12-31T23:59:59.999999-00:00", -1),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1970-01-01t00:00:00z", 0),
        ("0001-01-01T00:00:00+14:00", -62_135_596_800_000_000 - 14 * 3_600_000_000),
        ("9999-12-31T23:59:59.999999-14:00", 253_402_300_799_999_999 + 14 * 3_600_000_000),
    ],
)
def test_time_is_exact_in_every_year(stamp: str, expected: int) -> None:
    """Times are exact, even if the time in UTC is outside the years of datetime."""
    assert microseconds(stamp) == expected
