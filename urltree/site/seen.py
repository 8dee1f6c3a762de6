"""Duplicates within a domain: which pages were seen before, and which step reveals it.

    request URL ──redirects──▶ response URL ──normalise──▶ canonical form ──rule──▶ URL key

Two pages of one key are duplicates. Each is counted under the first step at which the two were
already the same (paper, section 3 and Figure 2). The same *origin* again is no duplicate but a
replay: Kafka delivers at least once, and what was forwarded once may have been lost behind us.
Whether a revisit takes the place of what was seen is asked in `urltree.site.revisits`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from heapq import nlargest
from typing import NamedTuple

import xxhash

from urltree.tree.window import DAY, REFERENCE

SEEN_VERSION = 2
HORIZON = 60 * DAY

_SEEN = struct.Struct("<BqQQQ")  # version, time, request, response, canonical; then the origin,
_VERSION = struct.Struct("<Qq")  # but before it from version 2 on: content, its time
_WITHOUT = 1  # version of what is stored where revisits are dropped


class Step(StrEnum):
    """The step of normalisation that makes two URLs equal, or what else makes a duplicate."""

    REQUEST_URL = "request-url"
    RESPONSE_URL = "response-url"
    CANONICAL = "canonical"
    RULE = "rule"
    SUPERSEDED = (
        "superseded"  # an older version of what was seen; no step, see `urltree.site.revisits`
    )


class SeenError(Exception):
    """Stored bytes that this release cannot read: ours to mend, never the page's fault."""


class Version(NamedTuple):
    """Which version of a page was forwarded last, where revisits may supersede it.

    Attributes:
        content: `urltree.site.revisits.content_digest` of it.
        time: document time of it, microseconds since 1970.
    """

    content: int
    time: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What is stored of a page that was forwarded, under its domain and id.

    Attributes:
        origin: topic/partition/offset of the first copy, or of the one that superseded it.
        time: document time of the first, microseconds since 1970: by it `seen` forgets, so that
            the horizon is the same whether it was made from what is stored or has grown.
        request, response, canonical: XXH3-64 of the three forms of its URL.
        version: None where revisits are dropped.
    """

    origin: str
    time: int
    request: int
    response: int
    canonical: int
    version: Version | None = None

    @property
    def version_time(self) -> int:
        """Document time of the version that `origin` names."""
        return self.version.time if self.version else self.time

    @classmethod
    def of(cls, origin: str, time: int, request: str, response: str, canonical: str) -> Seen:
        """Hash the three forms of a page's URL."""
        return cls(origin, time, _hash(request), _hash(response), _hash(canonical))

    def encode(self) -> bytes:
        """The bytes that are stored; pinned by a test."""
        number = SEEN_VERSION if self.version else _WITHOUT
        head = _SEEN.pack(number, self.time, self.request, self.response, self.canonical)
        return head + (_VERSION.pack(*self.version) if self.version else b"") + self.origin.encode()

    @classmethod
    def decode(cls, stored: bytes) -> Seen:
        """Read stored bytes.

        Raises:
            SeenError: they are of a version that this release does not know.
        """
        number = stored[0] if len(stored) >= _SEEN.size else 0
        origin_at = _SEEN.size + (_VERSION.size if number == SEEN_VERSION else 0)
        if number not in {_WITHOUT, SEEN_VERSION} or len(stored) < origin_at:
            raise SeenError(f"`seen` of version {stored[:1].hex() or 'none'}")
        _, time, request, response, canonical = _SEEN.unpack_from(stored)
        version = None
        if number == SEEN_VERSION:
            version = Version(*_VERSION.unpack_from(stored, _SEEN.size))
        return cls(stored[origin_at:].decode(), time, request, response, canonical, version)


def duplicate_step(first: Seen, page: Seen) -> Step | None:
    """The first step that shows `page` to be the page that was seen first; None for a replay.

    Args:
        first: what is stored under the key that the two share.
        page: what would be stored of the page that comes now.
    """
    if first.origin == page.origin:
        return None
    if first.request == page.request:
        return Step.REQUEST_URL
    if first.response == page.response:
        return Step.RESPONSE_URL
    return Step.CANONICAL if first.canonical == page.canonical else Step.RULE


class Horizon:
    """How long `seen` remembers in a domain, in document time.

    Like a window's age it is measured against the fifth-newest time, so that four pages dated in
    the future make it forget nothing.
    """

    __slots__ = ("_newest", "length")

    def __init__(self, times: Iterable[int] = (), length: int = HORIZON) -> None:
        self.length = length
        self._newest = nlargest(REFERENCE, times)

    def newest_time(self) -> int:
        """The newest time in microseconds, 0 where there is none."""
        return self._newest[0] if self._newest else 0

    def add(self, time: int) -> None:
        """Take note of the time of a page that was forwarded."""
        self._newest = nlargest(REFERENCE, (*self._newest, time))

    def is_past(self, time: int) -> bool:
        """Whether what was seen at that time is forgotten by now."""
        return len(self._newest) == REFERENCE and time < self._newest[-1] - self.length


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode(errors="surrogatepass"))
