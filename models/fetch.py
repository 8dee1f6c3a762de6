"""fetches: the durable queue of pages to be fetched, keyed by the domain of their target.

A page that cannot be fetched now is sent again, with the number of failed attempts and the time
of the next one. Its header `urltree-origin` names the offset of its first copy, as on every
record that is sent again, so that the audit counts it as the same page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import fields as fields_of

from models.record import SCHEMA, Count, NonEmpty, check_fields, read_versioned, write_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A page to be fetched.

    Attributes:
        url: address of the page, as the feed names it.
        redirects: addresses that earlier attempts were redirected to. The last one is requested
            next, and its domain is the record's key.
        feed: address of the feed, as it was added.
        title, description, published: what the feed's item gives; `published` is RFC 3339.
        meta: the feed's own strings, returned with the page.
        attempt: number of attempts that failed.
        not_before: time of the next attempt, in seconds since 1970.
        trouble: why the last attempt failed.
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

    @property
    def target(self) -> str:
        """Address that is requested next."""
        return self.redirects[-1] if self.redirects else self.url


_FIELDS = tuple(field.name for field in fields_of(FetchRequest))


def encode(fetch: FetchRequest) -> bytes:
    """Write a request as the value of a record."""
    fields = {name: getattr(fetch, name) for name in _FIELDS}
    fields |= {name: fields[name] or None for name in ("redirects", "meta")}
    return write_fields({"schema": SCHEMA, **fields})


def decode(value: bytes | None) -> FetchRequest:
    """Read a record.

    Raises:
        PageError: `malformed`.
    """
    return check_fields(read_versioned(value), FetchRequest)
