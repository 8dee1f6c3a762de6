"""feeds, a compacted topic: one record for each followed feed. A tombstone stops following it.

    key    SITE URL: the registrable domain, a space, the feed's address as it was added
    value  schema, title?, meta?; null: stop following the feed

The record's partition is the one of the site, not of the key. So one worker, the owner of the
site's partition, reads all feeds of a site.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from models.record import SCHEMA, check_fields, malformed, read_versioned, write_fields
from urltree.page import MAX_META_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed that is followed.

    Attributes:
        site: registrable domain.
        url: address as it was added; it stays the feed's name when the feed moves.
        title: title for people, until the feed gives its own.
        meta: the user's own strings, returned with every page of this feed.
    """

    site: str
    url: str
    title: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        """Key of the record."""
        return f"{self.site} {self.url}".encode()

    def encode(self) -> bytes:
        """Write the value of the record."""
        return write_fields(
            {"schema": SCHEMA, "title": self.title, "meta": dict(self.meta) or None}
        )


class FeedValue(Struct):
    """The fields of a record's value."""

    title: str | None = None
    meta: dict[str, str] = {}


def split_key(key: bytes | None) -> tuple[str, str]:
    """Return the site and the URL of a key.

    Raises:
        PageError: `malformed`.
    """
    try:
        site, url = (key or b"").decode().split(" ")
    except ValueError:
        site = url = ""
    if not site or not url:
        raise malformed(f"key: should be SITE URL, is {(key or b'')[:200]!r}")
    return site, url


def decode(key: bytes | None, value: bytes) -> Feed:
    """Read a record that is not a tombstone.

    Raises:
        PageError: `malformed`.
    """
    site, url = split_key(key)
    record = read_versioned(value)
    found = check_fields({**record, "meta": record.get("meta") or {}}, FeedValue)
    size = sum(len(t.encode(errors="replace")) for pair in found.meta.items() for t in pair)
    if size > MAX_META_BYTES:
        raise malformed(f"meta: has {size} bytes as UTF-8, more than {MAX_META_BYTES}")
    return Feed(site=site, url=url, title=found.title, meta=found.meta)
