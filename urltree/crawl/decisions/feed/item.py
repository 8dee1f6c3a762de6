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
        title: title as plain text in one line; None if missing.
        description: description with its markup; None if missing.
        published: date in the form of RFC 3339 with offset; None if no date could be read.
        updated: date of the last update, in the same form; None if the item has none.
        guid: text of RSS guid, Atom id or JSON Feed id, which often is no URL; None if missing or
            longer than 2,048 characters.
        content: whole text of the item as HTML; None if the feed has none, if it is too large, or
            if the caller did not ask for it.
        former_hash: hash that the previous release computed for this item, 16 bytes; None if the
            caller did not ask for it, or if that release read other items in this feed.
        place: place of the item's link on a section page; None for an item of a feed.
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
        return item_hash(self.title, self.description, self.published, self.link)


def item_hash(*fields: str | None) -> bytes:
    """Return the hash of title, description, date and link, 16 bytes; see `FeedItem.hash`."""
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
