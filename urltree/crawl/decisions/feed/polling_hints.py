"""A feed's hints on polling: ttl, skipHours, skipDays (RSS 2.0) and sy: (RSS 1.0 module).

Feedparser returns only the last <hour> of skipHours. So skipHours and skipDays are read from the
bytes of the feed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from urltree.crawl.decisions.timing import DAY, HOUR, MINUTE

_PERIODS = {
    "hourly": HOUR,
    "daily": DAY,
    "weekly": 7 * DAY,
    "monthly": 30 * DAY,
    "yearly": 365 * DAY,
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MAX_LIST = 8 * 1024  # bytes that are read of a list; a list of 24 hours has about 500 bytes

_NUMBER = re.compile(r"\s*(\d{1,9})\s*")
_SKIP_HOURS = re.compile(rb"<skipHours\s*>", re.IGNORECASE)
_SKIP_DAYS = re.compile(rb"<skipDays\s*>", re.IGNORECASE)
_HOUR = re.compile(rb"<hour\s*>\s*(\d{1,2})\s*</", re.IGNORECASE)
_DAY_NAME = re.compile(rb"<day\s*>\s*([a-z]{6,9})\s*</", re.IGNORECASE)


def read_ttl(feed: Mapping[str, Any]) -> float | None:
    """Return the seconds between polls that a feed asks for: the longer time of <ttl> and `sy:`.

    The result has no upper limit, so the caller must limit it. It is None if the feed
    contains neither of the two.
    """
    minutes = _number(feed.get("ttl"))
    period = _PERIODS.get(str(feed.get("sy_updateperiod")).strip().lower())
    asked = [minutes * MINUTE] if minutes else []
    if period:
        asked.append(period / (_number(feed.get("sy_updatefrequency")) or 1))
    return max(asked, default=None)


def read_skip_hours(body: bytes) -> tuple[int, ...]:
    """Return the hours of <skipHours>, 0 to 23; no hours if the feed lists all of them.

    Some feeds write 24 for midnight, which becomes 0.
    """
    hours = {int(hour) % 24 for hour in _read_list(body, _SKIP_HOURS, _HOUR) if int(hour) <= 24}
    return tuple(sorted(hours)) if len(hours) < 24 else ()


def read_skip_days(body: bytes) -> tuple[int, ...]:
    """Return the days of <skipDays>, 0 = Monday; no days if the feed lists all of them."""
    names = {name.decode().lower() for name in _read_list(body, _SKIP_DAYS, _DAY_NAME)}
    days = tuple(day for day, name in enumerate(_DAYS) if name in names)
    return days if len(days) < 7 else ()


def _read_list(body: bytes, start: re.Pattern[bytes], member: re.Pattern[bytes]) -> list[bytes]:
    """Return the members of the first list in a body; `start` matches the list's opening tag."""
    opened = start.search(body)
    if opened is None:
        return []
    inside = body[opened.end() : opened.end() + _MAX_LIST]
    closed = re.search(rb"</skip", inside, re.IGNORECASE)
    return member.findall(inside[: closed.start()] if closed else inside)


def _number(text: Any) -> int | None:
    """Convert a text of digits to a number; return None for any other value."""
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    return int(match[1]) if match else None
