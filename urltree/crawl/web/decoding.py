"""Decompression of a body, chunk by chunk, with a limit on the size of the result.

aiohttp's own decoder accepts compressed data that ends too early, and other clients decompress a
whole compression bomb in memory. This decoder stops as soon as the body is larger than `max_bytes`.
"""

from __future__ import annotations

import zlib
from io import BytesIO

from urltree.crawl.decisions.response import Trouble, WebError

_PLAIN = frozenset({"", "identity"})
_ENCODINGS = _PLAIN | {"gzip", "x-gzip", "deflate"}
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB, _RAW, _GZIP = zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS + 16
# Bytes by which compressed data may be larger than its content. Valid data needs little (RFC 1951:
# 5 bytes per block, and headers); data that needs more consists of empty members or garbage.
_OVERHEAD = 64 * 1024
_MAX_MEMBERS = 1_000  # gzip members per body; an empty member costs 20 bytes and 15 µs


class BodyDecoder:
    """A decoder that collects and decompresses a body chunk by chunk.

    Args:
        encoding: value of the header Content-Encoding; empty if the header is missing.
        max_bytes: maximum size of the decompressed body.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._received = 0
        self._body = BytesIO()
        self._encoding = encoding.strip().lower()
        self._inflate: _Inflate | None = None
        if self._encoding in _ENCODINGS - _PLAIN:
            self._inflate = _Inflate(is_gzip=self._encoding != "deflate")

    @property
    def size(self) -> int:
        """Number of bytes that were decompressed so far."""
        return self._body.tell()

    def feed(self, chunk: bytes) -> None:
        """Add the next bytes of the body as they were received.

        Raises:
            WebError: TOO_LARGE; or ENCODING for an unsupported encoding or invalid compressed data.
        """
        # The encoding is checked here, because a 304 may name an encoding although it has no body.
        if self._encoding not in _ENCODINGS:
            raise WebError(
                Trouble.ENCODING,
                f"Content-Encoding {self._encoding[:80]!r} is not supported; gzip was requested",
            )
        self._received += len(chunk)
        room = self._max_bytes - self.size
        if self._received > self._max_bytes + _OVERHEAD:
            raise self._too_large()
        if self._inflate is not None:
            chunk = self._inflate.feed(chunk, room + 1)
        if len(chunk) > room:
            raise self._too_large()
        self._body.write(chunk)

    def whole(self) -> bytes:
        """Return the body after all bytes were added.

        Raises:
            WebError: TRUNCATED: the compressed data ends too early.
        """
        if self._received and self._inflate is not None and not self._inflate.is_complete:
            raise WebError(Trouble.TRUNCATED, "the compressed body ends too early")
        return self._body.getvalue()

    def _too_large(self) -> WebError:
        return WebError(Trouble.TOO_LARGE, f"the body is larger than {self._max_bytes} bytes")


class _Inflate:
    """A decompressor with a limit. It joins several gzip members (RFC 1952) to one body.

    As in browsers, the data after a complete member is ignored if it does not begin another member.
    """

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._head = b""  # first byte of a member, kept until the second byte shows the format
        self._stream: zlib._Decompress | None = None
        self._members = 0
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the data that was fed so far ends with a complete member."""
        return self._members > 0 and self._stream is None

    def feed(self, chunk: bytes, max_bytes: int) -> bytes:
        """Decompress up to `max_bytes` bytes; the rest is lost."""
        out = BytesIO()
        data = self._head + chunk
        self._head = b""
        while data and not self._is_over and out.tell() < max_bytes:
            if self._stream is None:
                if len(data) < 2:
                    self._head = data
                    break
                if self._members and not (self._is_gzip and data.startswith(_GZIP_MAGIC)):
                    self._is_over = True
                    break
                if self._members == _MAX_MEMBERS:
                    raise WebError(
                        Trouble.ENCODING, f"the body has more than {_MAX_MEMBERS} gzip members"
                    )
                self._stream = zlib.decompressobj(self._window(data))
            try:
                out.write(self._stream.decompress(data, max_bytes - out.tell()))
            except zlib.error as error:
                raise WebError(
                    Trouble.ENCODING, f"the body is not valid compressed data: {error}"
                ) from None
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                data = self._stream.unused_data
                self._stream, self._members = None, self._members + 1
        return out.getvalue()

    def _window(self, data: bytes) -> int:
        """Return zlib's number (`wbits`) for the format of compressed data.

        With Content-Encoding `deflate`, servers send one of two formats (RFC 9110, 8.4.1.2).
        """
        if self._is_gzip:
            return _GZIP
        is_zlib = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0
        return _ZLIB if is_zlib else _RAW
