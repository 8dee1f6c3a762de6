"""Read the response headers that limit when to send the next request (RFC 9110, RFC 9111)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz

from urltree.crawl.decisions.timing import DAY

RETRY_AFTER_MAX = 7 * DAY  # seconds; a longer Retry-After is reduced to this

_MOST = 2.0**31  # seconds; longer freshness is reduced to this (RFC 9111, 1.2.2)
_DIRECTIVE = re.compile(r"""([\w-]+)\s*(?:=\s*("[^"]*"|[^\s,"]*))?""", re.ASCII)


def max_age(headers: Mapping[str, str]) -> tuple[float | None, bool]:
    """Return how long a response stays fresh, and whether it must not be cached.

    The Age header is subtracted: the response has already spent this time in a cache between the
    server and us. Expires is used only without max-age, and only if it is later than Date. A
    `no-cache` with field names applies only to these fields (RFC 9111, 5.2.2.4) and is ignored.

    Args:
        headers: header fields by lower-case name.

    Returns:
        The seconds for which the response stays fresh, None if the headers do not give them; and
        True if the response has no-cache or no-store.
    """
    said: dict[str, str] = {}
    for match in _DIRECTIVE.finditer(headers.get("cache-control", "")):
        said.setdefault(match[1].lower(), (match[2] or "").strip('"'))
    no_cache = "no-store" in said or said.get("no-cache") == ""
    if "cache-control" not in headers:
        no_cache = "no-cache" in headers.get("pragma", "").lower()
    age = _seconds(headers.get("age", "")) or 0.0
    fresh = _seconds(said["max-age"]) if "max-age" in said else _until_expires(headers)
    return (None if fresh is None else max(0.0, fresh - age)), no_cache


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait that the header Retry-After gives (RFC 9110, 10.2.3).

    The header contains a number of seconds or a date.

    Args:
        headers: header fields by lower-case name.
        now: time of the response, seconds since 1970.

    Returns:
        The seconds, at most seven days; None if the header is missing or cannot be parsed.
    """
    text = headers.get("retry-after", "").strip()
    seconds = _seconds(text.partition(",")[0])
    if seconds is None:
        date = parse_http_date(text)
        seconds = None if date is None else date - now
    return None if seconds is None else min(max(0.0, seconds), RETRY_AFTER_MAX)


def _seconds(text: str) -> float | None:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()):
        return None
    return min(float(digits), _MOST)


def _until_expires(headers: Mapping[str, str]) -> float | None:
    date, expires = (
        parse_http_date(headers.get("date", "")),
        parse_http_date(headers.get("expires", "")),
    )
    if date is None or expires is None or expires <= date:
        return None
    return min(expires - date, _MOST)


def parse_http_date(text: str) -> float | None:
    """Parse one of the three HTTP date formats; return seconds since 1970."""
    try:
        parts = parsedate_tz(text)
        return None if parts is None else float(mktime_tz(parts))
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
