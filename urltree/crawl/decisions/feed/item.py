"""An item of a feed, and the hash by which equal items are recognised.

The paper hashes title, description and date. We hash the link too: some feeds consist of items
without title, description and date, and all of these items would have the same hash.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import xxhash

_VERSION = b"\1"  # prefix of the hashed bytes; increase it when the normalisation changes


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An item of a feed.

    Attributes:
        link: absolute http or https URL of the page.
        title, description: texts of the item with their markup; None if missing.
        published: date in the form of RFC 3339 with offset; None if no date could be read.
        updated: date of the last change, in the same form.
        guid: the text of the guid (RSS), id (Atom, JSON Feed), stripped; None if missing.
        content: HTML of the whole item; None if the source has none, or it was not asked for.
        former_hash: `hash` of the same item as releases before 0.3 parsed it; None if it was not
            asked for.
        place: place of the link in a section page: a path of tags and class names.
    """

    link: str
    title: str | None = None
    description: str | None = None
    published: str | None = None
    updated: str | None = None
    guid: str | None = None
    content: str | None = None
    former_hash: bytes | None = None
    place: str | None = None

    @property
    def hash(self) -> bytes:
        """Hash of the item, 16 bytes: xxh3_128 of the normalised fields, each followed by NUL."""
        fields = (self.title, self.description, self.published, self.link)
        return xxhash.xxh3_128_digest(_VERSION + b"".join(_normalise(field) for field in fields))


def _normalise(text: str | None) -> bytes:
    """Encode a field as NFC with collapsed white space, followed by NUL.

    A missing field and an empty string have different encodings.
    """
    if text is None:
        return b"\0"
    return (
        b"="
        + " ".join(unicodedata.normalize("NFC", text).split())
        .encode(errors="replace")
        .replace(b"\0", b"")
        + b"\0"
    )
