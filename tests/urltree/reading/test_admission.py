"""Admission: which pages are refused before any work is done for them."""

from __future__ import annotations

from typing import Any

import pytest

from urltree.page import Page, PageError, Reason
from urltree.reading.admission import admit

HTML = "<html><p>Wörter</p></html>"


def page(**fields: Any) -> Page:
    """Return a page with these fields; without any fields it is admitted."""
    return Page(**({"url": "https://example.org/", "html": HTML} | fields))


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        ({"url": None}, Reason.NO_URL, "url: is missing; every page needs a URL"),
        ({"url": ""}, Reason.NO_URL, "url: is missing; every page needs a URL"),
        ({"status": 404}, Reason.HTTP_STATUS, "status: 404 is not a success (200 to 299)"),
        ({"status": 302}, Reason.HTTP_STATUS, "status: 302 is not a success (200 to 299)"),
        ({"status": 0}, Reason.HTTP_STATUS, "status: 0 is not a success (200 to 299)"),
        ({"html": "x" * 1_001}, Reason.TOO_LARGE, "html: is larger than the limit of 1000 bytes"),
        ({"html": b"x" * 1_001}, Reason.TOO_LARGE, "html: is larger than the limit of 1000 bytes"),
        ({"html": "ö" * 501}, Reason.TOO_LARGE, "html: is larger than the limit of 1000 bytes"),
        ({"html": ""}, Reason.EMPTY, "html: is empty"),
        ({"html": b""}, Reason.EMPTY, "html: is empty"),
        ({"html": " \n\t\u00a0"}, Reason.EMPTY, "html: is empty"),
        ({"html": b" \n"}, Reason.EMPTY, "html: is empty"),
        (
            {"content_type": "image/png"},
            Reason.NOT_HTML,
            "content_type: image/png is not a type of HTML",
        ),
        (
            {"content_type": "text/plain"},
            Reason.NOT_HTML,
            "content_type: text/plain is not a type of HTML",
        ),
        (
            {"content_type": "text/xml", "html": "<rss><title>a</title></rss>"},
            Reason.NOT_HTML,
            "content_type: text/xml, but without an <html>",
        ),
        ({"html": b"%PDF-1.7"}, Reason.NOT_HTML, "html: is binary data, not HTML"),
        ({"html": "%PDF-1.7"}, Reason.NOT_HTML, "html: is binary data, not HTML"),
        (
            {"html": b"%PDF-1.7", "content_type": "text/html"},
            Reason.NOT_HTML,
            "html: is binary data, not HTML",
        ),
    ],
)
def test_what_cannot_become_clean_text_is_refused(
    fields: dict[str, Any], reason: Reason, message: str
) -> None:
    """A refused page raises PageError with a reason and a message that names the field."""
    with pytest.raises(PageError) as caught:
        admit(page(**fields), max_bytes=1_000)
    assert (caught.value.reason, caught.value.message) == (reason, message)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"status": 200},
        {"status": 206},
        {"url": None, "response_url": "https://example.org/"},
        {"content_type": "text/html"},
        {"content_type": "TEXT/HTML;charset=utf-8"},
        {"content_type": "text/html, text/html"},
        {"content_type": "application/xhtml+xml"},
        {"content_type": "application/xml"},
        {"content_type": ""},
        {"content_type": "*/*"},
        {"html": "ö" * 500},
        {"html": b"x" * 1_000},
        {"html": HTML.encode("utf-16")},
        {"html": "a\ud800"},
        {"url": "no URL at all: the key says so"},
    ],
)
def test_every_other_page_is_admitted(fields: dict[str, Any]) -> None:
    """A page is not refused because a field is missing, or because a limit is exactly reached."""
    admit(page(**fields), max_bytes=1_000)


def test_the_library_takes_pages_without_url() -> None:
    """With `url_required=False`, as in the library, a page without URL is admitted.

    The library makes each such page a site of its own; the job would have no key for it.
    """
    admit(page(url=None), max_bytes=1_000, url_required=False)
