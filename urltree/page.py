"""A page: the checked fields of an input record of the topic raw-html.

The library and the job check pages with the same function, `Page.from_fields`. Therefore both
refuse the same pages, with the same reason and message.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

SCHEMA = 1
MAX_REDIRECTS = 20
MAX_META_BYTES = 8 * 1024

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - in UTC; `microseconds` subtracts the offset
_TEXT_FIELDS = ("url", "response_url", "content_type", "title", "description", "feed")
_TIME_FIELDS = ("published", "fetched_at")

ContentFrom = Literal["page", "feed"]  # where the HTML of a page comes from


class Reason(StrEnum):
    """The reason why a page cannot become clean text; also the reason code of its dead letter."""

    NOT_HTML = "not-html"
    HTTP_STATUS = "http-status"
    NO_URL = "no-url"
    BAD_URL = "bad-url"
    EMPTY = "empty"
    MALFORMED = "malformed"
    TOO_LARGE = "too-large"
    MISPLACED = "misplaced"
    UNREACHABLE = "unreachable"  # all attempts to fetch the page failed
    ROBOTS = "robots"  # robots.txt forbids the page
    WALL = "wall"  # the response is a consent page or a robot check
    REDIRECT = "redirect"  # a loop, too many redirects, or a target that is no http address
    REFUSED_ADDRESS = "refused-address"  # the address of the host is private
    DENIED = "denied"  # a rule of the operator forbids requests for the page
    REMOVED = "removed"  # the operator removed the page from the queue, or its feed
    RESERVED = "reserved"  # the publisher reserves the page (noindex, noai, TDM), and we obey
    EXPIRED = "expired"  # Kafka's retention removed a range of records before they were read
    UNREADABLE = "unreadable"  # a range of records cannot be decompressed or decoded
    INTERNAL = "internal"  # processing failed twice for an unexpected reason; can be replayed


class PageError(Exception):
    """An error in a page. The page becomes a dead letter, and the next page is processed.

    Args:
        reason: reason code in the metrics and in the dead letter.
        message: explanation for a person; it names the field and the problem.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

    def __reduce__(self) -> tuple[type[PageError], tuple[Reason, str]]:
        return PageError, (self.reason, self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One fetched page: the record of the topic raw-html.

    Attributes:
        url: request URL as given; None if it is unknown.
        html: HTML as decoded text, or as the bytes of the response.
        response_url: URL after redirects; None if it equals `url`.
        content_type: header Content-Type; its charset is used if `html` is bytes.
        status: HTTP status code; None if it is unknown.
        title: title given with the page, for example by a feed.
        description: description given with the page.
        published: time of publication as given, RFC 3339.
        fetched_at: time of the request as given, RFC 3339.
        redirects: URLs of the redirects between `url` and `response_url`, at most 20.
        feed: address of the feed that linked to the page.
        meta: the user's own strings, at most 8 KB as UTF-8; they are returned unchanged.
        content_from: `page` if the HTML is the page at the URL, `feed` if it is the full text of
            the page in a feed, without anything that repeats on the site.
    """

    url: str | None
    html: str | bytes
    response_url: str | None = None
    content_type: str | None = None
    status: int | None = None
    title: str | None = None
    description: str | None = None
    published: str | None = None
    fetched_at: str | None = None
    redirects: tuple[str, ...] = ()
    feed: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    content_from: ContentFrom = "page"

    @property
    def final_url(self) -> str | None:
        """Response URL, or else request URL; domain and key are made from it (paper, section 3)."""
        return self.response_url or self.url

    @property
    def time(self) -> int | None:
        """Document time in microseconds since 1970: `fetched_at`, else `published`, else None."""
        stamp = self.fetched_at or self.published
        return None if stamp is None else microseconds(stamp)

    @classmethod
    def from_fields(cls, record: Mapping[str, Any]) -> Page:
        """Check the fields of a raw-html record; unknown fields are ignored.

        The field `content_from` is never refused: former releases ignored it, so any value but
        `feed` counts as `page`.

        Raises:
            PageError: `malformed`; the message names the field and what it should be.
        """
        if record.get("schema", SCHEMA) != SCHEMA:
            raise _malformed("schema", f"should be {SCHEMA}")
        checked: dict[str, Any] = {name: _text(record, name) for name in _TEXT_FIELDS}
        checked |= {name: _time(record, name) for name in _TIME_FIELDS}
        return cls(
            **checked,
            html=_html(record),
            status=_status(record),
            redirects=_redirects(record),
            meta=_meta(record),
            content_from=known_content_from(record.get("content_from")),
        )


FIELDS = tuple(f.name for f in fields(Page))


def known_content_from(value: object) -> ContentFrom:
    """Return `feed` for this string, and `page` for any other value of any type."""
    return "feed" if value == "feed" else "page"


def microseconds(stamp: str) -> int:
    """Return an RFC 3339 time of the years 1 to 9999 in microseconds since 1970-01-01T00:00Z.

    Raises:
        ValueError: the text is not an RFC 3339 time, or it has no offset from UTC.
    """
    moment = datetime.fromisoformat(
        stamp.upper()
    )  # RFC 3339, section 5.6: `t` and `z` may be lower case
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError("it has no offset from UTC")
    # astimezone would fail for year 1 with a positive offset: in UTC it is before datetime.min
    elapsed = moment.replace(tzinfo=None) - _EPOCH - offset
    return (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds


def _malformed(name: str, problem: str) -> PageError:
    return PageError(Reason.MALFORMED, f"{name}: {problem}")


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise _malformed(name, f"should be a string, is {type(value).__name__}")
    return value


def _time(record: Mapping[str, Any], name: str) -> str | None:
    value = _text(record, name)
    if value is not None:
        try:
            microseconds(value)
        except ValueError as error:
            raise _malformed(name, f"should be an RFC 3339 time: {error}") from None
    return value


def _html(record: Mapping[str, Any]) -> str | bytes:
    html, encoded = record.get("html"), record.get("html_base64")
    if (html is None) == (encoded is None):
        raise _malformed("html", "exactly one of html and html_base64 should be set")
    if html is not None:
        if not isinstance(html, str | bytes):
            raise _malformed("html", f"should be a string, is {type(html).__name__}")
        return html
    if not isinstance(encoded, str):
        raise _malformed("html_base64", f"should be a string, is {type(encoded).__name__}")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _malformed("html_base64", f"should be base64: {error}") from None


def _status(record: Mapping[str, Any]) -> int | None:
    status = record.get("status")
    if status is not None and (not isinstance(status, int) or isinstance(status, bool)):
        raise _malformed("status", f"should be an integer, is {type(status).__name__}")
    return status


def _redirects(record: Mapping[str, Any]) -> tuple[str, ...]:
    redirects = record.get("redirects") or ()
    if not isinstance(redirects, list | tuple) or not all(isinstance(u, str) for u in redirects):
        raise _malformed("redirects", "should be a list of strings")
    if len(redirects) > MAX_REDIRECTS:
        raise _malformed(
            "redirects", f"has {len(redirects)} entries; at most {MAX_REDIRECTS} are allowed"
        )
    return tuple(redirects)


def _meta(record: Mapping[str, Any]) -> Mapping[str, str]:
    meta = record.get("meta") or {}
    if not isinstance(meta, Mapping) or not all(
        isinstance(k, str) and isinstance(v, str) for k, v in meta.items()
    ):
        raise _malformed("meta", "should map strings to strings")
    size = sum(len(text.encode(errors="replace")) for pair in meta.items() for text in pair)
    if size > MAX_META_BYTES:
        raise _malformed("meta", f"has {size} bytes; at most {MAX_META_BYTES} are allowed")
    return dict(meta)
