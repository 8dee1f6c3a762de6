"""The `seen` record: it is stored for every page that a site has forwarded as a document.

    version │ time │ hash of request URL │ of response URL │ of canonical URL
    (│ content digest, version time) │ origin

Records remain stored when a new release is deployed. So each record begins with a version, and a
test pins its bytes. Integers are little-endian. `deduplication.py` compares pages with the records.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

import xxhash

from urltree.tree.window import DAY, REFERENCE

SEEN_VERSION = 2
HORIZON = 60 * DAY

_SEEN = struct.Struct("<BqQQQ")  # version, time, hashes of the request, response, canonical URL
_VERSION = struct.Struct("<Qq")  # only in version 2, before the origin: content digest, time
_WITHOUT_VERSION = 1  # version of a record that is written if revisits are dropped


class SeenError(Exception):
    """Stored bytes that this release cannot read: a fault of the operator or of this release."""


class Version(NamedTuple):
    """The version of a page that was forwarded last; a revisit may replace it.

    Attributes:
        content: digest of the page's content, see `revisits.content_digest`.
        time: document time of this version in microseconds since 1970.
    """

    content: int
    time: int


@dataclass(frozen=True, slots=True)
class Seen:
    """The stored record of a forwarded page; its key is the domain and the document id.

    Attributes:
        origin: topic/partition/offset of the first copy, or of the version that replaced it.
        time: document time of the first copy in microseconds since 1970. The horizon is computed
            from these times, so that a restart does not change it.
        request: XXH3-64 of the request URL.
        response: XXH3-64 of the response URL.
        canonical: XXH3-64 of the canonical form of the URL.
        version: version that was forwarded last; None if revisits are dropped.
    """

    origin: str
    time: int
    request: int
    response: int
    canonical: int
    version: Version | None = None

    @property
    def version_time(self) -> int:
        """Document time of the version that `origin` names, in microseconds since 1970."""
        return self.version.time if self.version else self.time

    @classmethod
    def of(cls, origin: str, time: int, request: str, response: str, canonical: str) -> Seen:
        """Make a record; hash the three forms of the page's URL."""
        return cls(origin, time, _hash(request), _hash(response), _hash(canonical))

    def encode(self) -> bytes:
        """Return the bytes to store."""
        number = SEEN_VERSION if self.version else _WITHOUT_VERSION
        head = _SEEN.pack(number, self.time, self.request, self.response, self.canonical)
        return head + (_VERSION.pack(*self.version) if self.version else b"") + self.origin.encode()

    @classmethod
    def decode(cls, stored: bytes) -> Seen:
        """Return the record that `encode` has encoded.

        Raises:
            SeenError: the bytes are damaged, or this release does not know their version.
        """
        number = stored[0] if len(stored) >= _SEEN.size else 0
        origin_at = _SEEN.size + (_VERSION.size if number == SEEN_VERSION else 0)
        if number not in {_WITHOUT_VERSION, SEEN_VERSION} or len(stored) < origin_at:
            raise SeenError(
                f"seen record: its version is {stored[:1].hex() or 'missing'}, but this release "
                f"reads versions {_WITHOUT_VERSION} and {SEEN_VERSION}; run the one that wrote it"
            )
        _, time, request, response, canonical = _SEEN.unpack_from(stored)
        version = None
        if number == SEEN_VERSION:
            version = Version(*_VERSION.unpack_from(stored, _SEEN.size))
        try:
            origin = stored[origin_at:].decode()
        except UnicodeDecodeError as error:
            raise SeenError(f"seen record: its {len(stored)} bytes are damaged: {error}") from None
        return cls(origin, time, request, response, canonical, version)


class Horizon:
    """The document time of a site before which its `seen` records have expired.

    The horizon lies `length` microseconds before the fifth-newest document time. So up to four
    pages with a date in the future do not move it.
    """

    __slots__ = ("_newest", "length")

    def __init__(self, times: Iterable[int] = (), length: int = HORIZON) -> None:
        self.length = length
        self._newest = nlargest(REFERENCE, times)

    def newest_time(self) -> int:
        """Return the newest document time in microseconds, 0 if there is none."""
        return self._newest[0] if self._newest else 0

    def add(self, time: int) -> None:
        """Add the document time of a page that was forwarded."""
        self._newest = nlargest(REFERENCE, (*self._newest, time))

    def is_past(self, time: int) -> bool:
        """Return whether a record with this document time has expired."""
        return len(self._newest) == REFERENCE and time < self._newest[-1] - self.length


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode(errors="surrogatepass"))
