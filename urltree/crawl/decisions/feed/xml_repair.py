"""The bytes of an XML feed, made ready for feedparser: each step is for a flaw of it, or its time.

body ─▶ encoded ─▶ is_page? ─▶ shortened ─▶ mended ─▶ feedparser ─▶ bare ─▶ feedparser
                                                           └ failed ─┘
"""

from __future__ import annotations

import codecs
import re
from itertools import islice

# longer ones first: that of UTF-32 begins with that of UTF-16
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([a-z0-9._:-]{1,40})", re.IGNORECASE)
_DECLARED = re.compile(rb"\s*<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE)
_WIDE = re.compile(r"(?:utf|ucs|iso-10646-ucs)[-_]?(?:2|4|16|32)", re.IGNORECASE)
_PAGE = re.compile(rb"<(?:!doctype\s+)?html[\s>]", re.IGNORECASE)
_ROOT = re.compile(rb"<(?:[\w.-]{1,40}:)?(?:rss|rdf|feed|channel)[\s>]", re.IGNORECASE)
_ITEM = re.compile(rb"<((?:[\w.-]{1,40}:)?(?:item|entry))[\s>]", re.IGNORECASE)
_REFERENCE = re.compile(rb"&#(?:x0*([0-9a-f]{4,})|0*([0-9]{5,}));?", re.IGNORECASE)
_NO_CHARACTER = 0x110000
# what feedparser fails on where it is incomplete, by trial with mutations of its own test files
_FAILING = re.compile(
    rb"<\?xml\s[^<>]*>|</?(?:(?:psc|georss|gml|geo|media|itunes|cc|creativecommons):[\w.-]+"
    rb"|textinput|image|width|height|category|keywords|where)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)


def find_encoding(body: bytes, content_type: str | None) -> tuple[bytes, str | None]:
    """A body, and the name of its encoding where something outside its XML tells it.

    A byte order mark beats every declaration (RFC 7303, section 3.3). Of the media type the
    charset alone counts: feedparser would read text/xml without one as ASCII, as RFC 3023 had it.
    What begins with single bytes is no UTF-16, whatever is said: .NET writes that before UTF-8.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, errors="replace").encode(), "utf-8"
    found, declared = _CHARSET.search(content_type or ""), _DECLARED.match(body)
    charset = found[1] if found else None
    if b"\0" not in body[:4] and _WIDE.match(charset or (declared[1].decode() if declared else "")):
        return body, "utf-8"
    return body, charset


def is_html_page(body: bytes) -> bool:
    """Whether it is HTML: feedparser takes 20 s for one of 8 MB, to find nothing."""
    return bool(_PAGE.search(body, 0, 1_024)) and not _ROOT.search(body)


def cut_surplus_items(body: bytes, max_items: int) -> bytes:
    """The body without the items after the first so many; what follows the last one stays.

    Only items named like the first one count. Where such a name stands in a comment or CDATA the
    cut may damage the feed, which feedparser then still reads up to there. UTF-16 without a mark
    stays whole: time limits it.
    """
    first = _ITEM.search(body)
    if first is None:
        return body
    starts = re.finditer(rb"<" + re.escape(first[1]) + rb"[\s>]", body)
    surplus = next(islice(starts, max_items, None), None)
    if surplus is None:
        return body
    last = body.rfind(b"</" + first[1], surplus.start())
    end = body.find(b">", last) + 1 if last >= 0 else 0
    return body[: surplus.start()] + (body[end:] if end else b"")


def replace_invalid_references(body: bytes) -> bytes:
    """The body without references to what is no character: one of them is an exception."""
    return _REFERENCE.sub(_character, body)


def remove_failing_tags(body: bytes) -> bytes:
    """The body without what feedparser fails on; items need none of it."""
    return _FAILING.sub(b"", body)


def _character(reference: re.Match[bytes]) -> bytes:
    digits = reference[1] or reference[2]
    number = int(digits, 16 if reference[1] else 10) if len(digits) <= 8 else _NO_CHARACTER
    is_character = number < 0xD800 or 0xDFFF < number < _NO_CHARACTER
    return reference[0] if is_character else b"&#xFFFD;"
