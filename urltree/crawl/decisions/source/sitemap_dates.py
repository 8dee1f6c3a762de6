"""Dates of sitemaps: the forms of W3C Datetime, and which moment a coarse date means.

2026, 2026-11            a period; its page may have appeared at its end
2026-11-22               a day
2026-11-22T14:05Z        a moment; seconds and their fractions may follow
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone

from urltree.crawl.decisions.timing import DAY, HOUR, MINUTE

_FEW = 20  # dates; fewer may lie close together by chance
_DATE = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?"
    r"\s*(?:(Z|UTC|GMT)|([+-])(\d{2}):?(\d{2})?)?)?)?)?\s*\Z",
    re.IGNORECASE | re.ASCII,
)


def read_w3c_date(text: str | None) -> str | None:
    """Return the first moment of a date in the form of RFC 3339 in UTC; None if it is not readable.

    A date without offset is read as UTC. A year, or a year and month, has no day: it is None,
    because it does not show whether a page is new.
    """
    moment = _moment(text)
    return None if moment is None else moment.isoformat(timespec="seconds")


def latest_time(text: str | None) -> float | None:
    """Return the last moment that a date of RFC 3339 can mean, in seconds since 1970.

    Midnight in UTC means the whole day, because most sitemaps give only a day.
    """
    if text is None:
        return None
    time = datetime.fromisoformat(text).timestamp()
    return time + DAY if time % DAY == 0 else time


def modified_time(text: str | None) -> float | None:
    """Return the first moment of a `lastmod` in seconds since 1970; None if it is not readable."""
    moment = _moment(text)
    return None if moment is None else moment.timestamp()


def are_stamped(times: Iterable[float], count: int) -> bool:
    """Return whether at least 20 of the times, and over half of `count`, lie within an hour."""
    ordered = sorted(times)
    least = max(_FEW, count // 2 + 1)
    gaps = zip(ordered, ordered[least - 1 :], strict=False)
    return any(last - first <= HOUR for first, last in gaps)


def _moment(text: str | None) -> datetime | None:
    found = _DATE.match(text[:100]) if text else None
    if found is None or found[3] is None:
        return None
    year, month, day, hour, minute, second = (int(found[at] or 0) for at in range(1, 7))
    try:
        moment = datetime(year, month, day, tzinfo=UTC)
        moment += timedelta(hours=hour, minutes=minute, seconds=second)
        if found[8]:
            ahead = MINUTE * (60 * int(found[9]) + int(found[10] or 0))
            moment = moment.replace(
                tzinfo=timezone(timedelta(seconds=ahead if found[8] == "+" else -ahead))
            ).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if 1970 <= moment.year < 9999 else None
