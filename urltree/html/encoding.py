"""From the bytes of a response to text, and whether they are text at all (issue 3, "Encoding").

The first that applies decides:

    byte order mark ▸ UTF-16 by its NULs ▸ valid UTF-8 beyond ASCII ▸ HTTP charset
      ▸ meta or XML declaration in the first 1,024 bytes ▸ a detector ▸ windows-1252

Valid UTF-8 stands before what is declared: by chance it is as good as impossible, and wrong
declarations are common. Labels mean what they mean to browsers (WHATWG Encoding): `latin1` is
windows-1252. Nothing here raises.
"""

from __future__ import annotations

import codecs
import re

import charset_normalizer
import webencodings

META_BYTES = 1_024  # WHATWG HTML, "prescan a byte stream to determine its encoding"
SNIFF_BYTES = 1_445  # WHATWG MIME Sniffing, section 3, "resource header"
DETECTOR_BYTES = 4_096  # of text without tags; the time that the detector takes grows with it

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_META = re.compile(rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"']+)", re.IGNORECASE)
_UNBELIEVED = frozenset({"utf-16le", "utf-16be", "replacement", "x-user-defined"})
_NO_TEXT = re.compile(rb"<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")

# What the detector may answer: the encodings of the web that are told apart by their bytes.
_DETECTABLE = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("iso8859_2", "koi8_r", "cp874", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
]

# WHATWG MIME Sniffing, sections 6 and 7.1: what is certainly no page.
_SIGNATURES = (
    *(b"%PDF-", b"%!PS-Adobe-", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff"),
    *(b"RIFF", b"\x00\x00\x01\x00", b"OggS\x00", b"\x1aE\xdf\xa3", b"fLaC"),
    *(b"PK\x03\x04", b"\x1f\x8b\x08", b"Rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c", b"(\xb5/\xfd"),
    *(b"wOFF", b"wOF2", b"\x00\x01\x00\x00", b"\xd0\xcf\x11\xe0", b"\x7fELF", b"\x00asm"),
)
_MARKUP = re.compile(rb"[\t\n\f\r ]*<[A-Za-z!?]")
_UTF_16_MARKUP = (
    ("utf-16-le", re.compile(rb"(?:[\t\n\f\r ]\x00)*<\x00[A-Za-z!?]\x00")),
    ("utf-16-be", re.compile(rb"(?:\x00[\t\n\f\r ])*\x00<\x00[A-Za-z!?]")),
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # section 3, "binary data byte"


def decode_html(html: bytes, content_type: str | None = None) -> str:
    """The text of a response.

    Args:
        html: its body.
        content_type: the HTTP header verbatim, whose charset counts.
    """
    for bom, name in _BOMS:
        if html.startswith(bom):
            return html[len(bom) :].decode(name, "replace")
    utf_16 = _utf_16(html)
    if utf_16 is not None:
        return html.decode(utf_16, "replace")
    text = _utf_8(html)
    if text is not None:
        return text
    for label in (_http_label(content_type), _declared_label(html)):
        text = _by_label(html, label)
        if text is not None:
            return text
    text = _by_label(html, _detected_label(html))
    return html.decode("cp1252", "replace") if text is None else text


def scrub(html: str) -> str:
    """Text without lone surrogates: they become U+FFFD, pairs the character that they mean."""
    try:
        html.encode()
    except UnicodeEncodeError:
        return html.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return html


def is_binary(html: bytes) -> bool:
    """Whether bytes are no text (WHATWG MIME Sniffing): PDF, image, archive, or binary data.

    What begins like markup is a page, whatever control characters follow.
    """
    head = html[:SNIFF_BYTES]
    if head.startswith(tuple(bom for bom, _ in _BOMS)) or _MARKUP.match(head):
        return False
    if head.startswith(_SIGNATURES) or head[4:8] == b"ftyp":
        return True
    return _BINARY.search(head) is not None and _utf_16(head) is None


def _utf_16(html: bytes) -> str | None:
    """UTF-16 without a mark: it begins like markup, or its NULs stand on one side of the pairs.

    Ideographs with a NUL on the other side are rare: 一 is U+4E00.
    """
    for name, markup in _UTF_16_MARKUP:
        if markup.match(html):
            return name
    head = html[:META_BYTES]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    few = len(head) // 20  # a tenth of all pairs
    if odd > few and even * 4 < odd:
        return "utf-16-le"
    return "utf-16-be" if even > few and odd * 4 < even else None


def _utf_8(html: bytes) -> str | None:
    """The text if it is valid UTF-8 beyond ASCII; a page may be cut within its last character."""
    try:
        text, consumed = codecs.utf_8_decode(html, "strict", False)  # noqa: FBT003 - not final
    except UnicodeDecodeError:
        return None
    if text.isascii():
        return None
    return text if consumed == len(html) else text + "\ufffd"


def _http_label(content_type: str | None) -> str | None:
    found = _CHARSET.search(content_type) if content_type else None
    return found.group(1) if found else None


def _declared_label(html: bytes) -> str | None:
    head = _COMMENT.sub(b"", html[:META_BYTES])
    found = _META.search(head) or _XML.match(head)
    return found.group(1).decode("ascii", "replace") if found else None


def _detected_label(html: bytes) -> str | None:
    """What the detector says of the first text beyond ASCII.

    windows-1252 wins near ties: of 119 pages in five Western sites, the detector's best alone
    reads 105 so, with near ties 113; pages in windows-1250, GB 18030 and Big5 stay as they are.
    """
    if html.isascii():
        return None
    matches = charset_normalizer.from_bytes(
        _sample(html), cp_isolation=_DETECTABLE, preemptive_behaviour=False, enable_fallback=False
    )
    best = matches.best()
    if (
        best is None
        or best.encoding not in _DETECTABLE
        or any(
            match.encoding == "cp1252"
            and match.chaos <= best.chaos + 0.01
            and match.coherence >= best.coherence - 0.05
            for match in matches
        )
    ):
        return None
    return best.encoding.replace("cp", "windows-").replace("_", "-")


def _sample(html: bytes) -> bytes:
    """Words without tags, from shortly before the first byte beyond ASCII to the end of a word."""
    text = b" ".join(_NO_TEXT.sub(b" ", html[: 32 * DETECTOR_BYTES]).split())
    beyond_ascii = _BEYOND_ASCII.search(text)
    if beyond_ascii is None:
        return b""
    start = max(0, beyond_ascii.start() - 256)
    sample = text[start : start + DETECTOR_BYTES]
    is_cut = len(text) > start + DETECTOR_BYTES and b" " in sample
    return sample[: sample.rindex(b" ")] if is_cut else sample


def _by_label(html: bytes, label: str | None) -> str | None:
    """The text by a label of WHATWG Encoding; None where the label means nothing here.

    UTF-16 is not believed: where it holds, its NULs have shown it.
    """
    encoding = webencodings.lookup(label) if label else None
    if encoding is None or encoding.name in _UNBELIEVED:
        return None
    text: str = encoding.codec_info.decode(html, "replace")[0]
    return text
