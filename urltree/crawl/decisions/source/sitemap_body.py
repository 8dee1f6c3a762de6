"""The bytes of a sitemap as chunks of plain XML or text, however they are compressed and encoded.

body ─▶ gunzip (if the bytes are gzip) ─▶ at most MAX_BYTES ─▶ UTF-16 to UTF-8 ─▶ escape "&"

A server sends `sitemap.xml.gz` without Content-Encoding, so only its first bytes show that it is
compressed. The chunks are small, so a body that unpacks to gigabytes needs no memory for them.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator

MAX_BYTES = 50 * 1024 * 1024  # of the uncompressed file (sitemaps.org, "Sitemap file requirements")
CHUNK = 64 * 1024  # bytes

_GZIP = b"\x1f\x8b"
_UTF_16 = {
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
# An ampersand that begins none of the references that XML itself defines
_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)")
_LONGEST_REFERENCE = 10  # bytes of a reference such as "&#x10FFFF;"


class SitemapChunks:
    """The chunks of one sitemap.

    Attributes:
        is_cut: whether the file ends too early, is damaged, or is larger than MAX_BYTES; known when
            all chunks are read.
    """

    def __init__(self, body: bytes, max_bytes: int = MAX_BYTES) -> None:
        self._body = body
        self._max_bytes = max_bytes
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield chunks in UTF-8, or in the encoding that the XML declares, in which `&` is escaped.

        Entities of a DOCTYPE are escaped too, so none of them is ever expanded. The parser would
        drop a lone `&` with the name behind it, which changes an address.
        """
        held = b""
        for chunk in self._in_ascii():
            text = held + chunk
            cut = text.rfind(b"&", max(0, len(text) - _LONGEST_REFERENCE))
            text, held = (text, b"") if cut < 0 else (text[:cut], text[cut:])
            yield _AMPERSAND.sub(b"&amp;", text)
        if held:
            yield _AMPERSAND.sub(b"&amp;", held)

    def _in_ascii(self) -> Iterator[bytes]:
        """Yield the chunks in an encoding that contains ASCII."""
        decoder: codecs.IncrementalDecoder | None = None
        is_first = True
        for chunk in self._limited():
            if is_first:
                is_first = False
                name = _UTF_16.get(chunk[:2])
                decoder = codecs.getincrementaldecoder(name)("replace") if name else None
            yield chunk if decoder is None else decoder.decode(chunk).encode(errors="replace")

    def _limited(self) -> Iterator[bytes]:
        left = self._max_bytes
        for chunk in self._unpacked():
            if len(chunk) > left:
                self.is_cut = True
                yield chunk[:left]
                return
            left -= len(chunk)
            yield chunk

    def _unpacked(self) -> Iterator[bytes]:
        """Yield the uncompressed bytes; a body may have several gzip members (RFC 1952, 2.2)."""
        if not self._body.startswith(_GZIP):
            yield from (self._body[at : at + CHUNK] for at in range(0, len(self._body), CHUNK))
            return
        rest = self._body
        while rest.startswith(_GZIP):
            unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
            while not unpacking.eof:
                try:
                    chunk = unpacking.decompress(rest, CHUNK)
                except zlib.error:
                    self.is_cut = True
                    return
                rest = unpacking.unconsumed_tail
                if not chunk and not unpacking.eof:
                    self.is_cut = True
                    return
                if chunk:
                    yield chunk
            rest = unpacking.unused_data
