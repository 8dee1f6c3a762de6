"""JSON Feed, versions 1 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from urltree.crawl.decisions.answer import Trouble, WebError
from urltree.crawl.decisions.feed.item import Item
from urltree.crawl.decisions.feed.parsed_feed import (
    MAX_DESCRIPTION,
    MAX_TITLE,
    ParsedFeed,
    bounded,
    first_items,
    link,
    stamp,
)

_BOM = b"\xef\xbb\xbf"
_VERSION = "jsonfeed.org/version/1"


def is_json(body: bytes) -> bool:
    """Whether a body is a JSON object: no XML begins so, and content types are often wrong."""
    return body[:64].removeprefix(_BOM).lstrip().startswith(b"{")


def parse(body: bytes, url: str, *, max_items: int) -> ParsedFeed:
    """Read a JSON Feed; see `urltree.crawl.decisions.feed.parsing.parse`."""
    try:
        feed = orjson.loads(body.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        if "memory" in error.msg:  # as orjson says it
            raise MemoryError from error
        raise WebError(Trouble.NOT_A_FEED, f"no JSON: {error}") from None
    entries = feed.get("items")
    if _VERSION not in str(feed.get("version")) or not isinstance(entries, list):
        raise WebError(Trouble.NOT_A_FEED, "JSON, but no JSON Feed")
    items, skipped = first_items(entries, max_items, lambda entry: _item(entry, url))
    return ParsedFeed(
        title=bounded(feed.get("title"), MAX_TITLE),
        items=items,
        truncated=len(entries) > max_items,
        skipped=skipped,
    )


def _item(entry: Any, url: str) -> Item | None:
    """`url` is the permalink; `external_url` stands in for it, then an id that is an address."""
    if not isinstance(entry, dict):
        return None
    address = (
        link(entry.get("url"), url)
        or link(entry.get("external_url"), url)
        or link(entry.get("id"), None)
    )
    if address is None:
        return None
    description = entry.get("summary") or entry.get("content_text") or entry.get("content_html")
    return Item(
        link=address,
        title=bounded(entry.get("title"), MAX_TITLE),
        description=bounded(description, MAX_DESCRIPTION),
        published=_date(entry.get("date_published")) or _date(entry.get("date_modified")),
    )


def _date(text: Any) -> str | None:
    """RFC 3339, as the specification asks for; anything else is no date."""
    try:
        return stamp(datetime.fromisoformat(text.strip().upper()))
    except (AttributeError, ValueError):
        return None
