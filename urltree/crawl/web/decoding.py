"""The body of an answer, decompressed while it comes, and never more of it than may be.

aiohttp's own decoder accepts compressed bytes that stop in the middle, and other clients hold a
whole bomb in memory (issue 4). Here each piece may grow to what is left of `max_bytes`, no more.
"""

from __future__ import annotations

import zlib
from io import BytesIO

from urltree.crawl.decisions.response import Trouble, WebError

_PLAIN = frozenset({"", "identity"})
_ENCODINGS = _PLAIN | {"gzip", "x-gzip", "deflate"}
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB, _RAW, _GZIP = zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS + 16
# Compressed bytes may exceed what they hold by a little (RFC 1951: 5 bytes a block, and headers).
# Beyond it they are empty members or garbage without end.
_OVERHEAD = 64 * 1024
_MAX_MEMBERS = 1_000  # an empty one costs 20 bytes of traffic and 15 µs


class BodyDecoder:
    """Takes a body piece by piece.

    Args:
        encoding: the Content-Encoding, empty where there is none.
        max_bytes: of the decompressed body.
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
        """Bytes so far, decompressed."""
        return self._body.tell()

    def feed(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            WebError: TOO_LARGE, or ENCODING where it is none that we asked for, or they are not it.
        """
        if self._encoding not in _ENCODINGS:  # not before: a 304 names one, and has no body
            raise WebError(
                Trouble.ENCODING, f"Content-Encoding {self._encoding[:80]!r}: not asked for"
            )
        self._received += len(piece)
        room = self._max_bytes - self.size
        if self._received > self._max_bytes + _OVERHEAD:
            raise self._too_large()
        if self._inflate is not None:
            piece = self._inflate.feed(piece, room + 1)
        if len(piece) > room:
            raise self._too_large()
        self._body.write(piece)

    def whole(self) -> bytes:
        """Give the body when all of it was fed.

        Raises:
            WebError: TRUNCATED, where the compressed bytes stop in the middle.
        """
        if self._received and self._inflate is not None and not self._inflate.is_complete:
            raise WebError(Trouble.TRUNCATED, "the compressed body stops in the middle")
        return self._body.getvalue()

    def _too_large(self) -> WebError:
        return WebError(Trouble.TOO_LARGE, f"the body is larger than {self._max_bytes} bytes")


class _Inflate:
    """A decompressor that is bounded; gzip of several members (RFC 1952) is one body.

    What follows a complete member and is none is ignored, as browsers do.

    Attributes:
        is_complete: whether the bytes so far may be all.
    """

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._head = b""  # fewer than two bytes of a member, which do not tell its kind
        self._stream: zlib._Decompress | None = None
        self._members = 0
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        return self._members > 0 and self._stream is None

    def feed(self, piece: bytes, max_bytes: int) -> bytes:
        """Decompress up to `max_bytes`; what gives more than that is lost."""
        out = BytesIO()
        data = self._head + piece
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
                    raise WebError(Trouble.ENCODING, f"more than {_MAX_MEMBERS} gzip members")
                self._stream = zlib.decompressobj(self._window(data))
            try:
                out.write(self._stream.decompress(data, max_bytes - out.tell()))
            except zlib.error as error:
                raise WebError(Trouble.ENCODING, f"the body is not compressed: {error}") from None
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                data = self._stream.unused_data
                self._stream, self._members = None, self._members + 1
        return out.getvalue()

    def _window(self, data: bytes) -> int:
        """Which of three formats; `deflate` is either of two, in practice (RFC 9110, 8.4.1.2)."""
        if self._is_gzip:
            return _GZIP
        is_zlib = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0
        return _ZLIB if is_zlib else _RAW
