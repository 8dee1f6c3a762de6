"""What is refused before any work is done on a page."""

from __future__ import annotations

from typing import Any

import pytest

from urltree.page import Page, PageError, Reason
from urltree.reading.admission import admit

HTML = "<html><p>Wörter</p></html>"


def page(**fields: Any) -> Page:
    """A page that is admitted, but for what a test changes."""
    return Page(**({"url": "https://example.org/", "html": HTML} | fields))


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        ({"url": None}, Reason.NO_URL, "url: is missing"),
        ({"url": ""}, Reason.NO_URL, "url: is missing"),
        ({"status": 404}, Reason.HTTP_STATUS, "status: 404 is no success"),
        ({"status": 302}, Reason.HTTP_STATUS, "status: 302 is no success"),
        ({"status": 0}, Reason.HTTP_STATUS, "status: 0 is no success"),
        ({"html": "x" * 1_001}, Reason.TOO_LARGE, "html: has more than 1000 bytes"),
        ({"html": b"x" * 1_001}, Reason.TOO_LARGE, "html: has more than 1000 bytes"),
        ({"html": "ö" * 501}, Reason.TOO_LARGE, "html: has more than 1000 bytes"),
        ({"html": ""}, Reason.EMPTY, "html: is empty"),
        ({"html": b""}, Reason.EMPTY, "html: is empty"),
        ({"html": " \n\t\u00a0"}, Reason.EMPTY, "html: is empty"),
        ({"html": b" \n"}, Reason.EMPTY, "html: is empty"),
        ({"content_type": "image/png"}, Reason.NOT_HTML, "content_type: image/png is no HTML"),
        ({"content_type": "text/plain"}, Reason.NOT_HTML, "content_type: text/plain is no HTML"),
        (
            {"content_type": "text/xml", "html": "<rss><title>a</title></rss>"},
            Reason.NOT_HTML,
            "content_type: text/xml, and no <html> in it",
        ),
        ({"html": b"%PDF-1.7"}, Reason.NOT_HTML, "html: is binary data"),
        ({"html": "%PDF-1.7"}, Reason.NOT_HTML, "html: is binary data"),
        (
            {"html": b"%PDF-1.7", "content_type": "text/html"},
            Reason.NOT_HTML,
            "html: is binary data",
        ),
    ],
)
def test_what_cannot_become_clean_text_is_refused(
    fields: dict[str, Any], reason: Reason, message: str
) -> None:
    """With its reason, and the field at fault."""
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
    """What is not given is not held against a page."""
    admit(page(**fields), max_bytes=1_000)


def test_the_library_takes_pages_without_url() -> None:
    """Each is a domain of its own there; the job has no key for it."""
    admit(page(url=None), max_bytes=1_000, url_required=False)
