"""When a feed asks to be left alone: ttl, skipHours, skipDays (RSS 2.0) and sy: (RSS 1.0 module).

Feedparser keeps the last <hour> of skipHours alone, so these two are read from the bytes.
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
_MAX_LIST = 8 * 1024  # bytes of a list; 24 hours take 500

_NUMBER = re.compile(r"\s*(\d{1,9})\s*")
_SKIP_HOURS = re.compile(rb"<skipHours\s*>", re.IGNORECASE)
_SKIP_DAYS = re.compile(rb"<skipDays\s*>", re.IGNORECASE)
_HOUR = re.compile(rb"<hour\s*>\s*(\d{1,2})\s*</", re.IGNORECASE)
_DAY_NAME = re.compile(rb"<day\s*>\s*([a-z]{6,9})\s*</", re.IGNORECASE)


def read_ttl(feed: Mapping[str, Any]) -> float | None:
    """Seconds; the longer one where a feed says both. Bounded by whoever heeds it."""
    minutes = _number(feed.get("ttl"))
    period = _PERIODS.get(str(feed.get("sy_updateperiod")).strip().lower())
    asked = [minutes * MINUTE] if minutes else []
    if period:
        asked.append(period / (_number(feed.get("sy_updatefrequency")) or 1))
    return max(asked, default=None)


def read_skip_hours(body: bytes) -> tuple[int, ...]:
    """0 to 23; some feeds say 24 for midnight. None where that leaves no hour."""
    hours = {int(hour) % 24 for hour in _listed(body, _SKIP_HOURS, _HOUR) if int(hour) <= 24}
    return tuple(sorted(hours)) if len(hours) < 24 else ()


def read_skip_days(body: bytes) -> tuple[int, ...]:
    """0 = Monday. None where that leaves no day."""
    names = {name.decode().lower() for name in _listed(body, _SKIP_DAYS, _DAY_NAME)}
    days = tuple(day for day, name in enumerate(_DAYS) if name in names)
    return days if len(days) < 7 else ()


def _listed(body: bytes, start: re.Pattern[bytes], member: re.Pattern[bytes]) -> list[bytes]:
    opened = start.search(body)
    if opened is None:
        return []
    inside = body[opened.end() : opened.end() + _MAX_LIST]
    closed = re.search(rb"</skip", inside, re.IGNORECASE)
    return member.findall(inside[: closed.start()] if closed else inside)


def _number(text: Any) -> int | None:
    """A count; None where it is none."""
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    return int(match[1]) if match else None
