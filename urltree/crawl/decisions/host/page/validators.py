"""The validators of a page, for its next request: a row of table `page_validators` (RFC 9110, 13).

    key    registrable domain, NUL, hash of the address of the page

The validators of a page are stored when raw-html has confirmed the page, and only for feeds whose
pages are fetched again. A request with them may be answered by 304: the page has not changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson
import xxhash

from urltree.crawl.decisions.timing import DAY, HOUR

VALIDATORS_VERSION = 1
MAX_ROW = 1024  # bytes; longer validators are not stored
KEPT_DAYS = 60.0  # days after which a row expires


class ValidatorsError(Exception):
    """A stored row of `page_validators` that this release cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageValidators:
    """The validators of a page.

    Attributes:
        etag: header ETag, unchanged; None if the response had none.
        last_modified: header Last-Modified, unchanged; None if the response had none.
        at: time of the response, seconds since 1970.
    """

    etag: str | None
    last_modified: str | None
    at: float

    def encode(self) -> bytes:
        """Return the bytes of the row: its version, then JSON."""
        return bytes([VALIDATORS_VERSION]) + orjson.dumps([self.etag, self.last_modified, self.at])

    @classmethod
    def decode(cls, row: bytes) -> PageValidators:
        """Read the bytes of a row.

        Raises:
            ValidatorsError: the row is damaged, or was written by another release.
        """
        try:
            _check_version(row[0])
            etag, last_modified, at = orjson.loads(row[1:])
            return cls(etag=_text(etag), last_modified=_text(last_modified), at=float(at))
        except (ValueError, TypeError, IndexError) as error:
            raise ValidatorsError(
                f"a row of table page_validators cannot be read: {error}; it is damaged, or "
                "another release has written it"
            ) from None

    def is_past(self, now: float) -> bool:
        """Return whether the row has expired, or has a time that is later than now."""
        return not -HOUR <= now - self.at <= KEPT_DAYS * DAY


def validators_key(url: str) -> bytes:
    """Return the 16 bytes that identify a page in the key of its row.

    Args:
        url: address that is requested: the final address of the page.
    """
    return xxhash.xxh3_128_digest(url.partition("#")[0].encode(errors="replace"))


def read_validators(headers: Mapping[str, str], now: float) -> PageValidators | None:
    """Return the validators in a response; None if it has none or they are too long to store.

    Args:
        headers: header fields by lower-case name.
        now: time of the response, seconds since 1970.
    """
    etag, modified = headers.get("etag") or None, headers.get("last-modified") or None
    if etag is None and modified is None:
        return None
    found = PageValidators(etag=etag, last_modified=modified, at=now)
    try:
        return found if len(found.encode()) <= MAX_ROW else None
    except orjson.JSONEncodeError:  # lone surrogates
        return None


def revisit_headers(row: PageValidators | None, now: float) -> dict[str, str]:
    """Return the headers that make a request conditional; none without valid validators."""
    if row is None or row.is_past(now):
        return {}
    named = {"If-None-Match": row.etag, "If-Modified-Since": row.last_modified}
    return {name: text for name, text in named.items() if text is not None}


def is_unchanged(status: int, sent: Mapping[str, str]) -> bool:
    """Return whether a response says that the page has not changed since its validators were sent.

    Args:
        status: status of the response.
        sent: headers of `revisit_headers` that were in the request.
    """
    return status == 304 and bool(sent)


def _check_version(version: int) -> None:
    if version != VALIDATORS_VERSION:
        raise ValueError(f"its version is {version}, not {VALIDATORS_VERSION}")


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{value!r:.50} is no text")
    return value
