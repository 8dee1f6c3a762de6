"""Check whether a page can become clean text, before any other work is done on the page."""

from __future__ import annotations

import re

from urltree.html.encoding import META_BYTES, SNIFF_BYTES, is_binary
from urltree.page import Page, PageError, Reason

# Plain text is refused, because it has no tags that separate text blocks.
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
XML_TYPES = frozenset({"application/xml", "text/xml"})  # XHTML is often sent with these types
UNKNOWN_TYPES = frozenset({"", "*/*", "unknown/unknown", "application/unknown"})  # MIME Sniffing, 7

_HTML_ROOT = re.compile(r"<(?:\w+:)?html[\s>]", re.IGNORECASE)


def admit(page: Page, max_bytes: int, *, url_required: bool = True) -> None:
    """Refuse a page that cannot become clean text.

    Args:
        page: page as it was read.
        max_bytes: largest size of the HTML in bytes; the size of text is measured in UTF-8.
        url_required: whether a page without URL is refused. The job needs the URL for the key of
            its records; the library does not need it.

    Raises:
        PageError: `no-url`, `http-status`, `too-large`, `empty` or `not-html`.
    """
    if url_required and not page.final_url:
        raise PageError(Reason.NO_URL, "url: is missing; every page needs a URL")
    if page.status is not None and not 200 <= page.status < 300:
        raise PageError(Reason.HTTP_STATUS, f"status: {page.status} is not a success (200 to 299)")
    if _is_larger(page.html, max_bytes):
        raise PageError(Reason.TOO_LARGE, f"html: is larger than the limit of {max_bytes} bytes")
    if not page.html or page.html.isspace():
        raise PageError(Reason.EMPTY, "html: is empty")
    _admit_type(page)
    if is_binary(_head(page.html, SNIFF_BYTES)):
        raise PageError(Reason.NOT_HTML, "html: is binary data, not HTML")


def may_be_html(content_type: str | None) -> bool:
    """Return whether a page with this content type may be HTML; its body need not be read yet."""
    return _media_type(content_type) in HTML_TYPES | XML_TYPES | UNKNOWN_TYPES


def _media_type(content_type: str | None) -> str:
    return re.split("[;,]", content_type or "", maxsplit=1)[0].strip().lower()


def _admit_type(page: Page) -> None:
    media_type = _media_type(page.content_type)
    if media_type in HTML_TYPES | UNKNOWN_TYPES:
        return
    if media_type in XML_TYPES:
        if _HTML_ROOT.search(_head(page.html, META_BYTES).decode("utf-8", "replace")):
            return
        raise PageError(Reason.NOT_HTML, f"content_type: {media_type}, but without an <html>")
    raise PageError(Reason.NOT_HTML, f"content_type: {media_type[:100]} is not a type of HTML")


def _is_larger(html: str | bytes, max_bytes: int) -> bool:
    if isinstance(html, bytes) or len(html) > max_bytes or 4 * len(html) <= max_bytes:
        return len(html) > max_bytes
    return len(html.encode(errors="replace")) > max_bytes


def _head(html: str | bytes, length: int) -> bytes:
    return html[:length] if isinstance(html, bytes) else html[:length].encode(errors="replace")
