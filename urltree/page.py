"""A page as it comes in: the fields of the topic raw-html, checked.

The library and the job read pages through the same door, `Page.from_fields`, so that a page
that one of them refuses is refused by the other with the same reason and the same words.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

SCHEMA = 1
MAX_REDIRECTS = 20
MAX_META_BYTES = 8 * 1024

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - offsets are subtracted by hand, see `microseconds`
_TEXT_FIELDS = ("url", "response_url", "content_type", "title", "description", "feed")
_TIME_FIELDS = ("published", "fetched_at")


class Reason(StrEnum):
    """Why a page cannot become clean text: the reason codes of the dead-letter topic."""

    NOT_HTML = "not-html"
    HTTP_STATUS = "http-status"
    NO_URL = "no-url"
    BAD_URL = "bad-url"
    EMPTY = "empty"
    MALFORMED = "malformed"
    TOO_LARGE = "too-large"
    MISPLACED = "misplaced"
    UNREACHABLE = "unreachable"  # not fetched, after as many attempts as are made
    ROBOTS = "robots"  # robots.txt forbids it
    WALL = "wall"  # a consent page or a test for robots stands in for the page
    REDIRECT = "redirect"  # a loop, too many, or to what is no http address
    REFUSED_ADDRESS = "refused-address"  # a private address
    INTERNAL = "internal"  # our fault, twice for the same record: kept, so that it can be replayed


class PageError(Exception):
    """The page's fault: it goes to the dead letters with a reason, and work goes on.

    Args:
        reason: the code that is counted and written to the dead letter.
        message: what is wrong with which field, for a person.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

    def __reduce__(self) -> tuple[type[PageError], tuple[Reason, str]]:
        return PageError, (self.reason, self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One fetched page (issue 3, record raw-html).

    Attributes:
        url: the request URL, as given.
        html: text, which is never decoded again, or the bytes of the response.
        response_url: where redirects ended; None where it equals `url`.
        content_type: the header verbatim; its charset counts where `html` is bytes.
        status: the HTTP status, if known.
        published, fetched_at: RFC 3339, as given.
        redirects: at most 20 URLs between `url` and `response_url`.
        meta: the user's own strings, at most 8 KB as UTF-8, returned untouched.
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

    @property
    def final_url(self) -> str | None:
        """The response URL, which decides domain and key (paper, section 3)."""
        return self.response_url or self.url

    @property
    def time(self) -> int | None:
        """Microseconds since 1970 of `fetched_at`, else of `published`, else None."""
        stamp = self.fetched_at or self.published
        return None if stamp is None else microseconds(stamp)

    @classmethod
    def from_fields(cls, record: Mapping[str, Any]) -> Page:
        """Check a record with raw-html's fields; unknown fields are ignored.

        Raises:
            PageError: `malformed`, naming the field and what it should be.
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
        )


FIELDS = tuple(f.name for f in fields(Page))


def microseconds(stamp: str) -> int:
    """Microseconds since 1970-01-01T00:00Z of an RFC 3339 time; years 1 to 9999.

    Raises:
        ValueError: it is no RFC 3339 time, or has no offset.
    """
    moment = datetime.fromisoformat(stamp.upper())  # section 5.6: `t` and `z` may be small
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError("has no offset from UTC")
    # year 1 east of Greenwich lies before datetime.min in UTC, so no astimezone here
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
        raise _malformed("html", "exactly one of html and html_base64 should be there")
    if html is not None:
        if not isinstance(html, str | bytes):
            raise _malformed("html", f"should be a string, is {type(html).__name__}")
        return html
    if not isinstance(encoded, str):
        raise _malformed("html_base64", f"should be a string, is {type(encoded).__name__}")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _malformed("html_base64", f"is not base64: {error}") from None


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
        raise _malformed("redirects", f"has {len(redirects)} entries, more than {MAX_REDIRECTS}")
    return tuple(redirects)


def _meta(record: Mapping[str, Any]) -> Mapping[str, str]:
    meta = record.get("meta") or {}
    if not isinstance(meta, Mapping) or not all(
        isinstance(k, str) and isinstance(v, str) for k, v in meta.items()
    ):
        raise _malformed("meta", "should map strings to strings")
    size = sum(len(text.encode(errors="replace")) for pair in meta.items() for text in pair)
    if size > MAX_META_BYTES:
        raise _malformed("meta", f"has {size} bytes, more than {MAX_META_BYTES}")
    return dict(meta)
