"""Parser for JSON Feed, versions 1 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from urltree.crawl.decisions.feed import former, xml_repair
from urltree.crawl.decisions.feed.dates import DayOrder, find_day_order, read_date, read_dates
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import (
    MAX_DESCRIPTION,
    ParsedFeed,
    ParseOptions,
    absolute_link,
    guid_text,
    html_content,
    limit_contents,
    plain_title,
    remove_credentials,
    select_newest,
    truncate_text,
)
from urltree.crawl.decisions.response import Trouble, WebError

_BOM = b"\xef\xbb\xbf"
_VERSION = "jsonfeed.org/version/1"
_SPACE = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:\s*")
_DECODER = json.JSONDecoder()


def is_json(body: bytes) -> bool:
    """Return whether a body begins with a brace, like a JSON object.

    The Content-Type is not used, because it is often wrong. No XML document begins with a brace.
    """
    return body[:64].removeprefix(_BOM).lstrip().startswith(b"{")


def parse_json_feed(body: bytes, url: str, options: ParseOptions) -> ParsedFeed:
    """Parse a JSON Feed; see `urltree.crawl.decisions.feed.parsing.parse_feed`."""
    body = body.removeprefix(_BOM)
    feed = _read_cut(body) if options.is_cut else _read(body)
    entries = feed.get("items")
    # A feed that was cut may lack a version, because the order of its fields is free.
    version = feed.get("version", _VERSION if options.is_cut else None)
    if _VERSION not in str(version) or not isinstance(entries, list):
        raise WebError(Trouble.NOT_A_FEED, "the body is JSON, but not a JSON Feed")
    texts = [_date_text(entry) for entry in entries]
    surplus = max(0, len(entries) - options.max_items)
    if surplus:
        newest = select_newest(read_dates(texts), options.max_items)
        entries = [entries[index] for index in newest]
    order = find_day_order(texts)
    items = [_item(entry, url, order, options) for entry in entries]
    linked = limit_contents(items)
    return ParsedFeed(
        title=plain_title(feed.get("title"), is_html=False),
        items=linked,
        truncated=surplus,
        skipped=len(items) - len(linked),
    )


def _read(body: bytes) -> dict[str, Any]:
    """Parse a body. One with an invalid byte is decoded like an XML feed, if it is UTF-8."""
    try:
        try:
            found: dict[str, Any] = orjson.loads(body)
        except orjson.JSONDecodeError:
            mended = xml_repair.replace_invalid_bytes(body)
            if mended is None:
                raise
            found = orjson.loads(mended)
    except orjson.JSONDecodeError as error:
        if "memory" in error.msg:  # orjson has no class of its own for this error
            raise MemoryError from error
        raise WebError(Trouble.NOT_A_FEED, f"the body is not valid JSON: {error}") from None
    return found


def _read_cut(body: bytes) -> dict[str, Any]:
    """Return the fields of an object that was cut, and the complete items of its last field."""
    text = body.decode(errors="replace")
    fields: dict[str, Any] = {}
    try:
        position = text.index("{") + 1
        while True:
            name, position = _DECODER.raw_decode(text, _skip(_SPACE, text, position))
            position = _skip(_COLON, text, position)
            if name == "items" and text[position : position + 1] == "[":
                fields["items"] = []
                position = _read_items(text, position + 1, fields["items"])
            else:
                fields[str(name)], position = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):  # the end of the object, or the cut
        return fields


def _read_items(text: str, position: int, items: list[Any]) -> int:
    """Append the items of an array, and return the position after it.

    Raises:
        ValueError: the array was cut; the complete items have been appended.
    """
    while text[position := _skip(_SPACE, text, position)] != "]":
        item, position = _DECODER.raw_decode(text, position)
        items.append(item)
    return position + 1


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    if found is None or found.end() >= len(text):
        raise ValueError("the text was cut")
    return found.end()


def _item(entry: Any, url: str, order: DayOrder | None, options: ParseOptions) -> FeedItem | None:
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
    description = truncate_text(
        entry.get("summary") or entry.get("content_text") or entry.get("content_html"),
        MAX_DESCRIPTION,
    )
    updated = read_date(entry.get("date_modified"), order)
    return FeedItem(
        link=remove_credentials(address),
        title=plain_title(entry.get("title"), is_html=False),
        description=description,
        published=read_date(entry.get("date_published"), order) or updated,
        updated=updated,
        guid=guid_text(entry.get("id")),
        content=_content(entry) if options.with_content else None,
        former_hash=(
            former.former_json_hash(entry, address, description) if options.with_former else None
        ),
    )


def _content(entry: dict[str, Any]) -> str | None:
    """Return the whole text of an item as HTML; plain text is used only if there is no HTML."""
    if entry.get("content_html"):
        return html_content(entry["content_html"], is_html=True)
    return html_content(entry.get("content_text"), is_html=False)


def _date_text(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return None
    return entry.get("date_published") or entry.get("date_modified")
