"""requests, an internal topic: small requests for the worker that owns a host.

key    registrable domain of the host that is asked next

Only the owner of a host sends requests to it, at the host's pace. `poll` asks it here for sources,
and another owner asks it here for a robots.txt that was redirected to this host. The owner sends
what it has found for a source to poll-outcomes, and a robots.txt back to this topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields as fields_of
from enum import StrEnum

from models.record import SCHEMA, Count, NonEmpty, check_fields, read_versioned, write_fields
from urltree.crawl.decisions.poll.source_options import SourceKind


class Purpose(StrEnum):
    """What a request is for."""

    SOURCE = "source"  # a feed, sitemap or section page
    FILE = "file"  # a robots.txt or tdmrep.json that was redirected to another domain
    FILE_ANSWER = "file-answer"  # such a file, for the owner of the host that was asked first


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest:
    """A small request to a host, or the answer to one.

    Attributes:
        purpose: what the request is for.
        url: address that was asked first.
        redirects: addresses to which it was redirected. The last address is requested next, and its
            domain is the key of the record; the key of a `file-answer` is the domain of `url`.
        asked_at: time at which the request was made, in seconds since 1970. A request that waits
            longer than `expires` is dropped without an answer, because it was made again by then.
        expires: seconds after which the request is dropped.
        site, feed, sequence: key of the source and number of the poll, for the answer.
        feed_offset: offset of the record of `feeds` that added the source; None in records of
            earlier releases. A removal of the source covers it.
        kind: kind of the source.
        etag, last_modified: validators of the source; without any the request is unconditional.
        body_hash: hash of the last body that was parsed; an equal body is not parsed again.
        is_read_again: whether an equal body is parsed nevertheless.
        with_content: whether the items are returned with their full text.
        with_former: whether the items are returned with their former hash.
        is_first: whether the source was not read before, so that old pages of a sitemap count as
            seen.
        taken_after: earliest time of the pages that are taken from a sitemap; None for all.
        credentials: name of the file with the credentials of the source.
        permanent_to: target of the last of the permanent redirects at the start of the chain.
        seconds: longest latency of the responses so far.
        status, body: status and text of a `file-answer`.
        message: why there is no file; only in a `file-answer`.
    """

    purpose: Purpose
    url: NonEmpty
    redirects: tuple[str, ...] = ()
    asked_at: float = 0.0
    expires: float = 300.0
    site: str | None = None
    feed: str | None = None
    sequence: Count = 0
    feed_offset: Count | None = None
    kind: SourceKind = SourceKind.FEED
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    is_read_again: bool = False
    with_content: bool = False
    with_former: bool = False
    is_first: bool = False
    taken_after: float | None = None
    credentials: str | None = None
    permanent_to: str | None = None
    seconds: float = 0.0
    status: int | None = None
    body: str | None = None
    message: str | None = None

    @property
    def target(self) -> str:
        """Address that is requested next: the last redirect, or else the first address."""
        return self.redirects[-1] if self.redirects else self.url


_FIELDS = tuple(field.name for field in fields_of(HostRequest))


def encode(request: HostRequest) -> bytes:
    """Write a request as the value of a record."""
    fields = {name: getattr(request, name) for name in _FIELDS}
    return write_fields({"schema": SCHEMA, **fields, "redirects": request.redirects or None})


def decode(value: bytes | None) -> HostRequest:
    """Read a request from the value of a record.

    Raises:
        PageError: `malformed`; the message names the field.
    """
    return check_fields(read_versioned(value), HostRequest)
