"""A parsed feed, and the conversion of links, texts and dates for all formats of feeds."""

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

MAX_TITLE = 4 * 1024  # largest size in bytes; every page and every feed state stores a title
MAX_DESCRIPTION = 64 * 1024  # largest size in bytes; some descriptions contain a whole book

_SCHEMES = {"http:", "https:"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFeed:
    """A parsed feed of any format.

    Attributes:
        title: title of the feed; None if it has no title.
        items: items that were read and have a link, in the feed's order.
        ttl: seconds between polls that the feed asks for; None if it asks for none.
        skip_hours: hours without polls, 0 to 23 in UTC; never all of them.
        skip_days: days without polls, 0 = Monday (RSS 2.0); never all of them.
        truncated: whether the feed has more items than were read.
        skipped: number of items that were read and have no http or https URL as link.
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
    """Convert the first entries of a feed into items.

    Args:
        entries: entries as the parser of the format returns them.
        max_items: largest number of entries to read.
        item: function that converts one entry; it returns None if the entry has no link.

    Returns:
        The items, and the number of entries without a link.
    """
    items = [item(entry) for entry in entries[:max_items]]
    linked = tuple(found for found in items if found is not None)
    return linked, len(items) - len(linked)


def truncate_text(text: Any, size: int) -> str | None:
    """Cut a text to `size` bytes in UTF-8; return None if it is empty or not a string.

    Surrogates, which `&#xD800;` in a feed produces, cannot be encoded and are replaced by U+FFFD.
    """
    if not isinstance(text, str) or not (text := text.strip()):
        return None
    return _SURROGATE.sub("\ufffd", text).encode()[:size].decode(errors="ignore")


def absolute_link(text: Any, base: str | None) -> str | None:
    """Return the http or https URL that a browser would request; None if the text is not one.

    Args:
        text: value from a feed. It may be a relative URL, contain spaces, or not be a string.
        base: URL to which the text is relative; with None, only an absolute URL is accepted.
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
    """Format a time as RFC 3339 in UTC, in whole seconds.

    Return None for years before 1970, and for 9999, which feeds use for "never".

    Args:
        moment: time to format; a time without offset is read as UTC.
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # year 1 or 9999: out of range after conversion to UTC
        return None
    return moment.isoformat(timespec="seconds") if 1970 <= moment.year < 9999 else None
