"""What a feed says, whatever its format: links, texts and dates that can be relied on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

import can_ada

from urltree.address.url import MAX_URL
from urltree.crawl.decisions.feed.item import FeedItem

MAX_TITLE = 4 * 1024  # bytes as UTF-8; a title travels with each page, a feed's stays in its state
MAX_DESCRIPTION = 64 * 1024  # bytes as UTF-8: a feed may carry whole books in it

_SCHEMES = {"http:", "https:"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFeed:
    """A feed.

    Attributes:
        items: the first of the feed, in its order, of those that have a link.
        ttl: seconds for which the feed asks not to be asked again, None where it does not.
        skip_hours: 0 to 23 in UTC; skip_days: 0 = Monday (RSS 2.0). Never all of them.
        truncated: whether there were more items than were looked at.
        skipped: items looked at whose link is no http or https address.
    """

    title: str | None = None
    items: tuple[FeedItem, ...] = ()
    ttl: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    truncated: bool = False
    skipped: int = 0


def convert_entries(
    entries: list[Any], max_items: int, item: Callable[[Any], FeedItem | None]
) -> tuple[tuple[FeedItem, ...], int]:
    """Items of a feed's first entries, and how many of these have no link.

    Args:
        entries: as the format has them.
        max_items: how many of them are looked at.
        item: makes an item of an entry, None where it has no link.
    """
    items = [item(entry) for entry in entries[:max_items]]
    linked = tuple(found for found in items if found is not None)
    return linked, len(items) - len(linked)


def truncate_text(text: Any, size: int) -> str | None:
    """Text of at most so many bytes as UTF-8; None where there is none.

    Surrogates, which `&#xD800;` in a feed makes, have no UTF-8: they become U+FFFD.
    """
    if not isinstance(text, str) or not (text := text.strip()):
        return None
    return _SURROGATE.sub("\ufffd", text).encode()[:size].decode(errors="ignore")


def absolute_link(text: Any, base: str | None) -> str | None:
    """The http or https URL that a browser would ask, None where it is none.

    Args:
        text: of a feed: may be relative, have spaces in it, or be no string at all.
        base: what it is relative to; without one only absolute URLs count.
    """
    if not isinstance(text, str) or not (text := text.strip()):
        return None
    try:
        parsed = can_ada.parse(urljoin(base or "", _SURROGATE.sub("\ufffd", text)))
    except ValueError:
        return None
    url: str = parsed.href
    return url if parsed.protocol in _SCHEMES and len(url) <= MAX_URL else None


def format_time(moment: datetime) -> str | None:
    """RFC 3339 in UTC, to the second; None before 1970, and in 9999, which stands for never.

    Args:
        moment: without offset it is UTC.
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # year 1 or 9999, out of bounds in UTC
        return None
    return moment.isoformat(timespec="seconds") if 1970 <= moment.year < 9999 else None
