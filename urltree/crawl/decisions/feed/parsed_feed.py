"""A parsed feed, and the conversion of links and texts for all formats of feeds."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from urllib.parse import urljoin

import can_ada

from urltree.address.url import MAX_URL
from urltree.crawl.decisions.feed.item import FeedItem

MAX_TITLE = 4 * 1024  # largest size in bytes; every page and every feed state stores a title
MAX_DESCRIPTION = 64 * 1024  # largest size in bytes; some descriptions contain a whole book
MAX_CONTENT = 1_000_000  # largest size in bytes; a message of Kafka has at most 1 MiB by default
MAX_CONTENTS = 16 * MAX_CONTENT  # largest size of all contents of a feed in bytes
MAX_GUID = 2_048  # largest length in characters

_SCHEMES = {"http:", "https:"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
# Elements that occur in titles. Other words in angle brackets are text: "List<T> in Java".
_BLOCK = "br|hr|p|div|h[1-6]|li|ul|ol|blockquote|center|td|tr|table|img|wbr"
_INLINE = (
    "a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike"
    "|strong|sub|sup|time|tt|u|var"
)
_ATTRIBUTES = r"""(?:\s+[\w:-]{1,40}\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+))*\s*/?"""
_BLOCK_TAG = re.compile(rf"</?(?:{_BLOCK}){_ATTRIBUTES}>", re.IGNORECASE)
_INLINE_TAG = re.compile(rf"</?(?:{_INLINE}){_ATTRIBUTES}>", re.IGNORECASE)
_ELEMENT = re.compile(rf"<({_INLINE}){_ATTRIBUTES}>([^<]*)</\1>", re.IGNORECASE)
_EMPTY_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """What to read of a feed; see `urltree.crawl.decisions.feed.parsing.parse_feed`."""

    max_items: int
    with_former: bool = False
    with_content: bool = False
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFeed:
    """A parsed feed of any format.

    Attributes:
        title: title of the feed as plain text; None if it has no title.
        items: items that were read and have a link, in the feed's order.
        ttl: seconds between polls that the feed asks for; None if it asks for none.
        skip_hours: hours without polls, 0 to 23 in UTC; never all of them.
        skip_days: days without polls, 0 = Monday (RSS 2.0); never all of them.
        truncated: number of items that were not read: older ones above the limit, and one that was
            cut. Items behind the cut are not counted.
        skipped: number of items that were read and have no http or https URL as link.
    """

    title: str | None = None
    items: tuple[FeedItem, ...] = ()
    ttl: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    truncated: int = 0
    skipped: int = 0


def select_newest(dates: Sequence[str | None], max_items: int) -> Sequence[int]:
    """Return the indexes of the newest items, in the feed's order.

    If an item has no date, the dates of the others show whether the newest items are at the end of
    the feed. Without any dates they are at its start, as in most feeds.

    Args:
        dates: dates of all items, in the form of RFC 3339 in UTC.
        max_items: largest number of items to select.
    """
    count = len(dates)
    if count <= max_items:
        return range(count)
    dated = [date for date in dates if date is not None]
    if len(dated) == count:
        # Sorting is stable, so of items with the same date the first ones are selected.
        return sorted(sorted(range(count), key=dated.__getitem__, reverse=True)[:max_items])
    upwards = sum(earlier < later for earlier, later in pairwise(dated))
    downwards = sum(earlier > later for earlier, later in pairwise(dated))
    return range(count - max_items, count) if upwards > downwards else range(max_items)


def limit_contents(items: Sequence[FeedItem | None]) -> tuple[FeedItem, ...]:
    """Return the items that have a link; remove the contents above the limit of a whole feed."""
    size, kept = 0, []
    for item in items:
        if item is None:
            continue
        size += len(item.content or "")
        kept.append(item if size <= MAX_CONTENTS or item.content is None else _bare(item))
    return tuple(kept)


def truncate_text(text: Any, size: int) -> str | None:
    """Cut a text to `size` bytes in UTF-8; return None if it is empty or not a string.

    Surrogates, which `&#xD800;` in a feed produces, cannot be encoded and are replaced by U+FFFD.
    """
    if not isinstance(text, str) or not (text := text.strip()):
        return None
    return _SURROGATE.sub("\ufffd", text).encode()[:size].decode(errors="ignore")


def plain_title(title: Any, *, is_html: bool) -> str | None:
    """Return a title in one line, without tags and character references; None if it is empty.

    Many publishers escape the HTML of a title once more than their format requires. So references
    are resolved twice, and then tags are removed only as pairs: "the <br> element" is text.

    Args:
        title: title from a feed; it may be no string.
        is_html: whether the title is HTML. Otherwise `<` and `&` are text.
    """
    if not isinstance(title, str):
        return None
    text = title[: 4 * MAX_TITLE]
    if is_html:
        text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))
        text = _unescape(text)
        text = _ELEMENT.sub(r"\2", _unescape(text))
    return truncate_text(" ".join(text.split()), MAX_TITLE)


def guid_text(guid: Any) -> str | None:
    """Return the guid of an item, without credentials; None if it is empty or too long.

    A number, which JSON Feed forbids but some feeds contain, becomes its digits.
    """
    if isinstance(guid, int) and not isinstance(guid, bool):
        guid = str(guid)
    if not isinstance(guid, str) or not 0 < len(guid := guid.strip()) <= MAX_GUID:
        return None
    text: str = _SURROGATE.sub("\ufffd", guid)
    link = absolute_link(text, None) if "@" in text else None
    without = None if link is None else remove_credentials(link)
    return text if without is None or without == link else without


def html_content(text: Any, *, is_html: bool) -> str | None:
    """Return the whole text of an item as HTML; None if it is empty or larger than 1 MB."""
    if not isinstance(text, str) or not (text := text.strip()) or len(text) > MAX_CONTENT:
        return None
    text = _SURROGATE.sub("\ufffd", text)
    if not is_html:
        paragraphs = _EMPTY_LINE.split(html.escape(text, quote=False))
        text = "".join(f"<p>{each.replace(chr(10), '<br>')}</p>" for each in paragraphs)
    return text if len(text.encode()) <= MAX_CONTENT else None


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


def remove_credentials(link: str) -> str:
    """Return an absolute URL without user name and password, which would be sent and stored."""
    if "@" not in link:
        return link
    parsed = can_ada.parse(link)
    parsed.username = parsed.password = ""
    url: str = parsed.href
    return url


def _unescape(text: str) -> str:
    """Resolve character references that end with a semicolon: "&copy" may be part of an address."""
    return _REFERENCE.sub(lambda reference: html.unescape(reference[0]), text)


def _bare(item: FeedItem) -> FeedItem:
    return replace(item, content=None)
