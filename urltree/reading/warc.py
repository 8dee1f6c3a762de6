"""Read the HTML responses of a crawl from a WARC archive (ISO 28500)."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

from urltree.page import PageError, Reason
from urltree.reading.admission import HTML_TYPES, XML_TYPES
from urltree.reading.source import Source

MAX_BODY = (10 << 20) + 1  # bytes of a response that are read; a page of this size is refused


def read_warc(stream: io.BufferedReader, skipped: Counter[str]) -> Iterator[Source]:
    """Yield the HTML responses of an archive; count all other records, such as redirects, by kind.

    Args:
        stream: the archive.
        skipped: counter to which the other records are added.
    """
    for record in ArchiveIterator(stream, parse_http=True, auto_decode="all"):
        kind = _other_kind(record)
        if kind is None:
            yield _page(record)
        else:
            skipped[kind] += 1


def _other_kind(record: Any) -> str | None:
    """Return the kind of a record that is no HTML response; None for an HTML response."""
    if record.record_type != WarcRecordType.response or not record.is_http:
        return f"WARC {record.headers.get('WARC-Type')}"
    if 300 <= (record.http_headers.status_code or 0) < 400:
        return "HTTP redirect"
    media_type = (record.http_content_type or "").lower()
    if media_type in HTML_TYPES | XML_TYPES | {""}:
        return None
    return media_type


def _page(record: Any) -> Source:
    headers = record.http_headers
    try:
        html = record.reader.read(MAX_BODY)
    except OSError as error:  # the compressed body is damaged
        url = record.headers.get("WARC-Target-URI")
        return PageError(Reason.MALFORMED, f"html: the body of {url} is damaged: {error}")
    return {
        "url": record.headers.get("WARC-Target-URI", "").strip("<>") or None,
        "html": html,
        "content_type": headers.get("Content-Type"),
        "status": headers.status_code,
        "fetched_at": record.headers.get("WARC-Date"),
    }
