"""fetches: the durable queue of pages to be fetched.

The key of a record is the domain of the address that is requested next. If a page cannot be fetched
now, its record is sent again with the number of failed attempts and the time of the next attempt.
As on every record that is sent again, the header `urltree-origin` names the page's first copy, so
that the audit counts all copies as one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import fields as fields_of

from models.record import SCHEMA, Count, NonEmpty, check_fields, read_versioned, write_fields
from urltree.crawl.decisions.poll.source_options import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A page to be fetched.

    Attributes:
        url: address of the page in the feed.
        redirects: addresses to which earlier attempts were redirected. The last address is
            requested next, and its domain is the key of the record.
        feed: address with which the feed was added.
        title, description, published: values in the feed's item; `published` is RFC 3339.
        meta: strings that the user gave for the feed, returned with the page.
        attempt: number of failed attempts.
        not_before: earliest time of the next attempt, in seconds since 1970.
        trouble: reason why the last attempt failed; None before the first failure.
        site: registrable domain of the feed; with `feed` it is the key of the feed's state.
        feed_offset: offset of the record of `feeds` that added the feed. If the feed is removed,
            the pages of its earlier additions are removed, too.
        named_at: time at which a poll found the page, seconds since 1970.
        is_first_poll: whether this was the first poll of the feed, so that the page may be old.
        is_revisit: whether the page was fetched before and is asked for again.
        content: where the text of the page comes from: `page`, `feed` or `auto`.
        feed_content: HTML of the item, if the feed contains it and `content` asks for it.
        credentials: name of the file with the credentials for the page.
        refusals: number of answers 404 and 403 so far.
        held_since: time since which the page waits because it may be a wall, seconds since 1970.
    """

    url: NonEmpty
    redirects: tuple[str, ...] = ()
    feed: str | None = None
    title: str | None = None
    description: str | None = None
    published: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    attempt: Count = 0
    not_before: float = 0.0
    trouble: str | None = None
    site: str | None = None
    feed_offset: Count | None = None
    named_at: float | None = None
    is_first_poll: bool = False
    is_revisit: bool = False
    content: Content = Content.PAGE
    feed_content: str | None = None
    credentials: str | None = None
    refusals: Count = 0
    held_since: float | None = None

    @property
    def target(self) -> str:
        """Address that is requested next: the last redirect, or else the URL of the page."""
        return self.redirects[-1] if self.redirects else self.url


_FIELDS = tuple(field.name for field in fields_of(FetchRequest))


def encode(fetch: FetchRequest) -> bytes:
    """Write a request as the value of a record."""
    fields = {name: getattr(fetch, name) for name in _FIELDS}
    fields |= {name: fields[name] or None for name in ("redirects", "meta")}
    return write_fields({"schema": SCHEMA, **fields})


def decode(value: bytes | None) -> FetchRequest:
    """Read a request from the value of a record.

    Raises:
        PageError: `malformed`; the message names the field.
    """
    return check_fields(read_versioned(value), FetchRequest)
