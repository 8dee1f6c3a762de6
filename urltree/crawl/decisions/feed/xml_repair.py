"""Prepare the bytes of an XML feed; each step works around one weakness of feedparser.

body ─▶ find_encoding ─▶ is_html_page? ─▶ xml_items ─▶ replace_invalid_references ─▶ mend_utf_8 ─┐
                                                                                               ▼
  feedparser ◀─ remove_failing_tags ◀─ if it fails ─ feedparser ◀─ separate_media_descriptions ┘
"""

from __future__ import annotations

import codecs
import re

# Byte order marks; those of UTF-32 come first, because one of them begins like a mark of UTF-16.
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
_REFERENCE = re.compile(rb"&#(?:x0*([0-9a-f]{4,})|0*([0-9]{5,}));?", re.IGNORECASE)
_NO_CHARACTER = 0x110000
_ESCAPED = re.compile("[\udc80-\udcff]")
_NOT_ASCII = bytes(range(128, 256))
_MEDIA_DESCRIPTION = re.compile(rb"<(/?)media:description(?:\s[^<>]{0,200}?)?(/?)>", re.IGNORECASE)
# Tags that make feedparser fail if they are incomplete, found with mutations of its test files
_FAILING = re.compile(
    rb"<\?xml\s[^<>]*>|</?(?:(?:psc|georss|gml|geo|media|itunes|cc|creativecommons):[\w.-]+"
    rb"|textinput|image|width|height|category|keywords|where)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)


def find_encoding(body: bytes, content_type: str | None) -> tuple[bytes, str | None]:
    """Return a body without byte order mark, and the encoding of the body.

    The encoding is None if feedparser must detect it.

    A byte order mark takes precedence over every declaration (RFC 7303, section 3.3). Then the
    charset of the Content-Type is used. The media type is not used, because feedparser would assume
    ASCII for text/xml without charset (RFC 3023). A declaration of UTF-16 or UTF-32 is replaced by
    UTF-8 if the first bytes contain no NUL: .NET declares UTF-16 for feeds in UTF-8.
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
    """Return whether a body is HTML.

    Such a body is refused at once, because feedparser takes 20 s for 8 MB of HTML.
    """
    return bool(_PAGE.search(body, 0, 1_024)) and not _ROOT.search(body)


def replace_invalid_references(body: bytes) -> bytes:
    """Replace references to invalid characters, for which feedparser would raise an exception."""
    return _REFERENCE.sub(_character, body)


def mend_utf_8(body: bytes, charset: str | None) -> tuple[bytes, str | None]:
    """Return a body in UTF-8 without its few invalid bytes, and its encoding.

    Publishers cut descriptions at a number of bytes, inside a character. Then feedparser would
    guess the encoding of the whole feed, wrongly. The body and its encoding are returned unchanged
    if it is valid, if it declares another encoding, or if it only claims to be UTF-8.

    Args:
        body: body without byte order mark.
        charset: encoding from the Content-Type, None if there is none. ASCII and unknown encodings
            are not used, because servers send them without knowing the feed.
    """
    declared = _DECLARED.match(body)
    for name in (charset, declared[1].decode() if declared else None, "utf-8"):
        if (codec := _codec(name)) not in {None, "ascii"}:
            break
    mended = replace_invalid_bytes(body) if codec == "utf-8" else None
    return (body, charset) if mended is None else (mended, "utf-8")


def replace_invalid_bytes(body: bytes) -> bytes | None:
    """Return a body in UTF-8 with U+FFFD in place of invalid bytes.

    Return None if the body has no invalid bytes, or at least as many of them as characters of
    several bytes: then it has another encoding.
    """
    try:
        body.decode()
    except UnicodeDecodeError:
        text = body.decode(errors="surrogateescape")
    else:
        return None
    invalid = len(_ESCAPED.findall(text))
    several = len(text) - invalid - len(body.translate(None, _NOT_ASCII))
    return body.decode(errors="replace").encode() if several > invalid else None


def separate_media_descriptions(body: bytes) -> bytes:
    """Rename the element media:description, which feedparser mixes up with an item's description.

    Feedparser returns the text of the new element as `media_summary`.
    """
    return _MEDIA_DESCRIPTION.sub(rb"<\1media:summary\2>", body)


def remove_failing_tags(body: bytes) -> bytes:
    """Remove tags that make feedparser fail. No item needs these tags."""
    return _FAILING.sub(b"", body)


def _codec(name: str | None) -> str | None:
    """Return the name of Python's codec for an encoding, None if there is none."""
    try:
        return codecs.lookup(name).name if name else None
    except (LookupError, ValueError):  # a name with NUL is a ValueError
        return None


def _character(reference: re.Match[bytes]) -> bytes:
    digits = reference[1] or reference[2]
    number = int(digits, 16 if reference[1] else 10) if len(digits) <= 8 else _NO_CHARACTER
    is_character = number < 0xD800 or 0xDFFF < number < _NO_CHARACTER
    return reference[0] if is_character else b"&#xFFFD;"
