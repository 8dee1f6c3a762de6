"""An item of a feed, and what makes two of them the same.

The paper takes an item once, by a hash of title, description and date. The link belongs to it
(issue 4): items without title and date, which whole feeds consist of, would all be one.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import xxhash

_VERSION = b"\1"  # first byte hashed: another way to normalise is another version


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An item as its feed says it.

    Attributes:
        link: absolute http or https URL of the page.
        title, description: as given, markup included.
        published: RFC 3339 with offset; None where the feed has no date that can be read.
    """

    link: str
    title: str | None = None
    description: str | None = None
    published: str | None = None

    @property
    def hash(self) -> bytes:
        """16 bytes: xxh3_128 of the normalised fields, each ended by NUL."""
        fields = (self.title, self.description, self.published, self.link)
        return xxhash.xxh3_128_digest(_VERSION + b"".join(_normalised(field) for field in fields))


def _normalised(text: str | None) -> bytes:
    """NFC, white space collapsed, NUL-ended; nothing is nothing, not an empty string's equal."""
    if text is None:
        return b"\0"
    return (
        b"="
        + " ".join(unicodedata.normalize("NFC", text).split())
        .encode(errors="replace")
        .replace(b"\0", b"")
        + b"\0"
    )
