"""feeds, a compacted input topic: one record for each feed to follow.

    key    SITE URL: the registrable domain, a space, and the address with which the feed was added
    value  schema, title?, meta?, and the options of the source; a null value removes the feed

The site decides the partition of a record, not the whole key. So one worker, which owns the
partition of the site, polls all feeds of the site.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta, Struct

from models.record import (
    SCHEMA,
    Count,
    check_fields,
    malformed,
    read_versioned,
    write_fields,
)
from urltree.crawl.decisions.feed.address import mask_credentials
from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions
from urltree.page import MAX_META_BYTES

Seconds = Annotated[float, Meta(gt=0)]
SecretName = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed to follow.

    Attributes:
        site: registrable domain of the feed.
        url: address with which the feed was added; it identifies the feed even if the feed moves.
        title: title for people; it is used until a poll has found the feed's own title.
        meta: the user's own strings, returned with every page of the feed.
        options: kind, pace and credentials of the source.
    """

    site: str
    url: str
    title: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    options: SourceOptions = SourceOptions()

    @property
    def key(self) -> bytes:
        """Key of the record."""
        return f"{self.site} {self.url}".encode()

    def encode(self) -> bytes:
        """Write the feed as the value of its record."""
        options = self.options
        return write_fields(
            {
                "schema": SCHEMA,
                "title": self.title,
                "meta": dict(self.meta) or None,
                "kind": None if options.kind is SourceKind.FEED else options.kind,
                "content": None if options.content is Content.PAGE else options.content,
                "interval_min": options.interval_min,
                "interval_max": options.interval_max,
                "paused": options.is_paused or None,
                "only_new": options.is_only_new or None,
                "first_poll_max": options.first_poll_max,
                "credentials": options.credentials,
                "credentials_for_pages": options.are_credentials_for_pages or None,
            }
        )


class FeedValue(Struct):
    """The fields in the value of a record of the topic feeds."""

    title: str | None = None
    meta: dict[str, str] = {}
    kind: SourceKind | None = None
    content: Content | None = None
    interval_min: Seconds | None = None
    interval_max: Seconds | None = None
    paused: bool | None = None
    only_new: bool | None = None
    first_poll_max: Count | None = None
    credentials: SecretName | None = None
    credentials_for_pages: bool | None = None

    @property
    def options(self) -> SourceOptions:
        """The options of the source; a missing field has its default."""
        return SourceOptions(
            kind=self.kind or SourceKind.FEED,
            content=self.content or Content.PAGE,
            interval_min=self.interval_min,
            interval_max=self.interval_max,
            is_paused=bool(self.paused),
            is_only_new=bool(self.only_new),
            first_poll_max=self.first_poll_max,
            credentials=self.credentials,
            are_credentials_for_pages=bool(self.credentials_for_pages),
        )


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
        raise malformed(f"key: should be SITE URL, is {(mask_key(key) or b'')[:200]!r}")
    return site, url


def mask_key(key: bytes | None) -> bytes | None:
    """Return a key with `***` in place of the user name and password of its URL."""
    if key is None or b"@" not in key:
        return key
    site, space, url = key.decode(errors="replace").partition(" ")
    return f"{mask_credentials(site)}{space}{mask_credentials(url)}".encode()


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
    return Feed(site=site, url=url, title=found.title, meta=found.meta, options=found.options)
