"""feeds, compacted: one record a feed that is to be followed; a tombstone ends it.

    key    SITE URL: the registrable domain, a space, the feed's address as it was added
    value  schema, title?, meta?; null: follow it no more

Its partition is that of the site, not of the key: the owner of a site's partition is its only
reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.record import SCHEMA, malformed, read, write
from urltree.page import MAX_META_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed that is to be followed.

    Attributes:
        site: registrable domain.
        url: as it was added; it stays the feed's name when the feed moves.
        title: for people, until the feed says its own.
        meta: the user's own strings, returned with every page of this feed.
    """

    site: str
    url: str
    title: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        """The record's key."""
        return f"{self.site} {self.url}".encode()

    def encode(self) -> bytes:
        """The record's value."""
        return write({"schema": SCHEMA, "title": self.title, "meta": dict(self.meta) or None})


def split_key(key: bytes | None) -> tuple[str, str]:
    """Site and URL of a key.

    Raises:
        PageError: `malformed`.
    """
    try:
        site, url = (key or b"").decode().split(" ")
    except ValueError:
        raise malformed(f"key: should be SITE URL, is {(key or b'')[:200]!r}") from None
    if not site or not url:
        raise malformed("key: should be SITE URL")
    return site, url


def decode(key: bytes | None, value: bytes) -> Feed:
    """Read a record that is no tombstone.

    Raises:
        PageError: `malformed`.
    """
    site, url = split_key(key)
    record = read(value)
    title, meta = record.get("title"), record.get("meta") or {}
    if record.get("schema") != SCHEMA:
        raise malformed(f"schema: should be {SCHEMA}")
    if title is not None and not isinstance(title, str):
        raise malformed("title: should be a string")
    if not isinstance(meta, dict) or not all(isinstance(v, str) for v in meta.values()):
        raise malformed("meta: should map strings to strings")
    if sum(len(t.encode(errors="replace")) for pair in meta.items() for t in pair) > MAX_META_BYTES:
        raise malformed(f"meta: has more than {MAX_META_BYTES} bytes")
    return Feed(site=site, url=url, title=title, meta=meta)
