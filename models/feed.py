"""feeds, a compacted input topic: one record for each feed to follow.

    key    SITE URL: the registrable domain, a space, and the address with which the feed was added
    value  schema, title?, meta?; a null value (tombstone) removes the feed

The site decides the partition of a record, not the whole key. So one worker, which owns the
partition of the site, polls all feeds of the site.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from models.record import SCHEMA, check_fields, malformed, read_versioned, write_fields
from urltree.page import MAX_META_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed to follow.

    Attributes:
        site: registrable domain of the feed.
        url: address with which the feed was added; it identifies the feed even if the feed moves.
        title: title for people; it is used until a poll has found the feed's own title.
        meta: the user's own strings, returned with every page of the feed.
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
        """Write the feed as the value of its record."""
        return write_fields(
            {"schema": SCHEMA, "title": self.title, "meta": dict(self.meta) or None}
        )


class FeedValue(Struct):
    """The fields in the value of a record of the topic feeds."""

    title: str | None = None
    meta: dict[str, str] = {}


def split_key(key: bytes | None) -> tuple[str, str]:
    """Return the site and the URL in the key of a record.

    Raises:
        PageError: `malformed`: the key does not consist of a site, a space and a URL.
    """
    try:
        site, url = (key or b"").decode().split(" ")
    except ValueError:
        site = url = ""
    if not site or not url:
        raise malformed(f"key: should be SITE URL, is {(key or b'')[:200]!r}")
    return site, url


def decode(key: bytes | None, value: bytes) -> Feed:
    """Read a feed from the key and the value of a record that is not a tombstone.

    Raises:
        PageError: `malformed`; the message names the field.
    """
    site, url = split_key(key)
    record = read_versioned(value)
    found = check_fields({**record, "meta": record.get("meta") or {}}, FeedValue)
    size = sum(len(t.encode(errors="replace")) for pair in found.meta.items() for t in pair)
    if size > MAX_META_BYTES:
        raise malformed(f"meta: has {size} bytes as UTF-8, more than {MAX_META_BYTES}")
    return Feed(site=site, url=url, title=found.title, meta=found.meta)
