"""fetches: the durable queue of pages to be fetched, keyed by the domain of their address.

A page that cannot be fetched now is sent again, with its next attempt and the time before which
it is not to be tried. Its header `urltree-origin` says where its first copy lies, as on every
re-sent record; by that the audit knows that it is no other page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from typing import Any

from models.record import SCHEMA, malformed, read, write

_TEXTS = ("url", "feed", "title", "description", "published", "trouble")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A page to be fetched.

    Attributes:
        url: as the feed names it.
        redirects: where it was sent on to so far, the last is what is asked next; its domain is
            the record's key.
        feed: the feed's address, by which it was added.
        title, description, published: of the item; `published` is RFC 3339.
        meta: the feed's, returned with the page.
        attempt: tries so far that failed.
        not_before: seconds since 1970.
        trouble: of the last try.
    """

    url: str
    redirects: tuple[str, ...] = ()
    feed: str | None = None
    title: str | None = None
    description: str | None = None
    published: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 0
    not_before: float = 0.0
    trouble: str | None = None

    @property
    def target(self) -> str:
        """What is asked next."""
        return self.redirects[-1] if self.redirects else self.url


_FIELDS = tuple(field.name for field in fields_of(FetchRequest))


def encode(fetch: FetchRequest) -> bytes:
    """The record's value."""
    fields = {name: getattr(fetch, name) for name in _FIELDS}
    fields |= {name: fields[name] or None for name in ("redirects", "meta")}
    return write({"schema": SCHEMA, **fields})


def decode(value: bytes | None) -> FetchRequest:
    """Read a record.

    Raises:
        PageError: `malformed`.
    """
    record = read(value)
    if record.get("schema") != SCHEMA:
        raise malformed(f"schema: should be {SCHEMA}")
    fields: dict[str, Any] = {}
    for name in _TEXTS:
        text = record.get(name)
        if text is not None and not isinstance(text, str):
            raise malformed(f"{name}: should be a string")
        fields[name] = text
    if not fields["url"]:
        raise malformed("url: should be there")
    redirects, meta = record.get("redirects", []), record.get("meta", {})
    if not isinstance(redirects, list) or not all(isinstance(url, str) for url in redirects):
        raise malformed("redirects: should be a list of strings")
    if not isinstance(meta, dict) or not all(isinstance(text, str) for text in meta.values()):
        raise malformed("meta: should map strings to strings")
    attempt, not_before = record.get("attempt", 0), record.get("not_before", 0.0)
    if type(attempt) is not int or attempt < 0:
        raise malformed("attempt: should be a number of tries")
    if isinstance(not_before, bool) or not isinstance(not_before, int | float):
        raise malformed("not_before: should be seconds since 1970")
    return FetchRequest(
        **fields,
        redirects=tuple(redirects),
        meta=meta,
        attempt=attempt,
        not_before=float(not_before),
    )
