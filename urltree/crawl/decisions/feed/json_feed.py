"""Parser for JSON Feed, versions 1 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import (
    MAX_DESCRIPTION,
    MAX_TITLE,
    ParsedFeed,
    absolute_link,
    convert_entries,
    format_time,
    truncate_text,
)
from urltree.crawl.decisions.response import Trouble, WebError

_BOM = b"\xef\xbb\xbf"
_VERSION = "jsonfeed.org/version/1"


def is_json(body: bytes) -> bool:
    """Return whether a body begins with a brace, like a JSON object.

    The Content-Type is not used, because it is often wrong. No XML document begins with a brace.
    """
    return body[:64].removeprefix(_BOM).lstrip().startswith(b"{")


def parse_json_feed(body: bytes, url: str, *, max_items: int) -> ParsedFeed:
    """Parse a JSON Feed; see `urltree.crawl.decisions.feed.parsing.parse_feed`."""
    try:
        feed = orjson.loads(body.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        if "memory" in error.msg:  # orjson has no class of its own for this error
            raise MemoryError from error
        raise WebError(Trouble.NOT_A_FEED, f"the body is not valid JSON: {error}") from None
    entries = feed.get("items")
    if _VERSION not in str(feed.get("version")) or not isinstance(entries, list):
        raise WebError(Trouble.NOT_A_FEED, "the body is JSON, but not a JSON Feed")
    items, skipped = convert_entries(entries, max_items, lambda entry: _item(entry, url))
    return ParsedFeed(
        title=truncate_text(feed.get("title"), MAX_TITLE),
        items=items,
        truncated=len(entries) > max_items,
        skipped=skipped,
    )


def _item(entry: Any, url: str) -> FeedItem | None:
    """Return the item of an entry, or None if it has no link.

    The link is the first valid URL of `url`, `external_url` and `id`; `id` must be absolute.
    """
    if not isinstance(entry, dict):
        return None
    address = (
        absolute_link(entry.get("url"), url)
        or absolute_link(entry.get("external_url"), url)
        or absolute_link(entry.get("id"), None)
    )
    if address is None:
        return None
    description = entry.get("summary") or entry.get("content_text") or entry.get("content_html")
    return FeedItem(
        link=address,
        title=truncate_text(entry.get("title"), MAX_TITLE),
        description=truncate_text(description, MAX_DESCRIPTION),
        published=_date(entry.get("date_published")) or _date(entry.get("date_modified")),
    )


def _date(text: Any) -> str | None:
    """Read a date of RFC 3339, as the specification requires; return None for any other text."""
    try:
        return format_time(datetime.fromisoformat(text.strip().upper()))
    except (AttributeError, ValueError):
        return None
