"""Decompression of a body, chunk by chunk, with a limit on the size of the result.

aiohttp's own decoder accepts compressed data that ends too early, and other clients decompress a
whole compression bomb in memory. This decoder stops as soon as the body is larger than `max_bytes`.
"""

from __future__ import annotations

import zlib
from io import BytesIO

from urltree.crawl.decisions.response import Trouble, WebError

_GZIP_CODINGS = frozenset({"gzip", "x-gzip"})
_CODINGS = _GZIP_CODINGS | {"deflate"}
# Registered codings that we did not request and cannot decode (IANA HTTP Content Coding Registry).
# Their bytes are useless, while an unknown name is usually a mistake: `utf-8`, `none`, `text/html`.
_UNSUPPORTED = frozenset(
    {"aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress", "zstd"}
)
_MAX_CODINGS = 5  # curl's limit
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB, _RAW, _GZIP = zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS + 16
# Bytes by which compressed data may be larger than its content. Valid data needs little (RFC 1951:
# 5 bytes per block, and headers); data that needs more consists of empty members or garbage.
_OVERHEAD = 64 * 1024
_MAX_MEMBERS = 1_000  # gzip members per body; an empty member costs 20 bytes and 15 µs


class BodyDecoder:
    """A decoder that collects and decompresses a body chunk by chunk.

    The header Content-Encoding lists the codings in the order in which the server applied them
    (RFC 9110, 8.4), so the last one is removed first. As in browsers, unknown names are ignored.

    Args:
        encoding: value of the header Content-Encoding; empty if the header is missing.
        max_bytes: maximum size of the decompressed body.
        cut: what to do with a larger body: True keeps its first `max_bytes` bytes, False raises
            TOO_LARGE.

    Attributes:
        is_cut: whether the body is larger than `max_bytes`; further bytes are then ignored.
    """

    def __init__(self, encoding: str, max_bytes: int, *, cut: bool = False) -> None:
        self._max_bytes = max_bytes
        self._cut = cut
        self.is_cut = False
        self._received = 0
        self._body = BytesIO()
        names = [name.strip().lower() for name in encoding.split(",")]
        self._unsupported = next((name for name in names if name in _UNSUPPORTED), None)
        codings = [name for name in names if name in _CODINGS]
        self._is_too_often = len(codings) > _MAX_CODINGS
        self._layers = [
            _Layer(_Inflate(is_gzip=name in _GZIP_CODINGS)) for name in reversed(codings)
        ]

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
        self._check_encoding()
        if self.is_cut:
            return
        self._received += len(chunk)
        # Data of an inner layer that exceeds its limit is lost, so the body ends there.
        is_over = self._received > self._max_bytes + _OVERHEAD
        for layer in self._layers[:-1]:
            chunk = layer.feed(chunk, self._max_bytes + _OVERHEAD - layer.size + 1)
            is_over = is_over or layer.size > self._max_bytes + _OVERHEAD
        room = self._max_bytes - self.size
        if self._layers:
            chunk = self._layers[-1].feed(chunk, room + 1)
        if (is_over or len(chunk) > room) and not self._cut:
            raise WebError(Trouble.TOO_LARGE, f"the body is larger than {self._max_bytes} bytes")
        self.is_cut = is_over or len(chunk) > room
        self._body.write(chunk[:room])

    def whole(self) -> bytes:
        """Return the body after all bytes were added, or its beginning if it was cut.

        Raises:
            WebError: TRUNCATED: the compressed data ends too early.
        """
        if not self.is_cut and not all(layer.is_complete for layer in self._layers):
            raise WebError(Trouble.TRUNCATED, "the compressed body ends too early")
        return self._body.getvalue()

    def _check_encoding(self) -> None:
        if self._unsupported is not None:
            raise WebError(
                Trouble.ENCODING,
                f"Content-Encoding {self._unsupported!r} is not supported; gzip was requested",
            )
        if self._is_too_often:
            raise WebError(
                Trouble.ENCODING, f"the body is compressed more than {_MAX_CODINGS} times"
            )


class _Layer:
    """One coding of a body, with the number of bytes that it has decoded."""

    def __init__(self, inflate: _Inflate) -> None:
        self._inflate = inflate
        self._has_data = False
        self.size = 0

    @property
    def is_complete(self) -> bool:
        """Whether the data is complete. No data at all counts as an empty body."""
        return self._inflate.is_complete or not self._has_data

    def feed(self, chunk: bytes, max_bytes: int) -> bytes:
        """Decompress up to `max_bytes` bytes."""
        self._has_data = self._has_data or bool(chunk)
        decoded = self._inflate.feed(chunk, max_bytes)
        self.size += len(decoded)
        return decoded


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
