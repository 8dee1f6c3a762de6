"""RSS, Atom, RDF and CDF by feedparser, which finds links in damaged feeds too (issue 4).

Feedparser is given a stream, never text, which it could take for a file's name or an address; its
SAX parser loads no external entity, and bounds what entities expand to. It reads 4,000 items a
second, 1,500 of a damaged feed: those that do not count are cut out before (`xml_bytes.py`).
"""

from __future__ import annotations

import html
from datetime import datetime
from io import BytesIO
from typing import Any

import feedparser

from urltree.crawl.decisions.feed import polling_hints, xml_repair
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

_DATES = ("published_parsed", "created_parsed", "updated_parsed")


def parse_xml_feed(
    body: bytes, content_type: str | None, url: str, *, max_items: int
) -> ParsedFeed:
    """Read an XML feed; see `urltree.crawl.decisions.feed.parsing.parse_feed`."""
    body, charset = xml_repair.find_encoding(body, content_type)
    if xml_repair.is_html_page(body):
        raise WebError(Trouble.NOT_A_FEED, "an HTML page")
    short = xml_repair.cut_surplus_items(body, max_items)
    found = _read(xml_repair.replace_invalid_references(short), charset)
    if not found.get("version") and not found["entries"]:
        raise WebError(Trouble.NOT_A_FEED, "no RSS, Atom, RDF, CDF or JSON feed")
    entries, feed = found["entries"], found["feed"]
    items, skipped = convert_entries(entries, max_items, lambda entry: _item(entry, url))
    return ParsedFeed(
        title=_title(feed),
        items=items,
        ttl=polling_hints.read_ttl(feed),
        skip_hours=polling_hints.read_skip_hours(short),
        skip_days=polling_hints.read_skip_days(short),
        truncated=len(entries) > max_items or len(short) < len(body),
        skipped=skipped,
    )


def _read(body: bytes, charset: str | None) -> Any:
    """As feedparser does; once more without what it fails on, where it fails."""
    try:
        return _feedparser(body, charset)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever a parser of hostile text may raise
        body = xml_repair.remove_failing_tags(body)
    try:
        return _feedparser(body, charset)
    except MemoryError:
        raise
    except Exception as error:
        raise WebError(Trouble.NOT_A_FEED, f"cannot be parsed: {error!r:.200}") from error


def _feedparser(body: bytes, charset: str | None) -> Any:
    content_type = f"application/xml; charset={charset}"
    return feedparser.parse(
        BytesIO(body),
        response_headers={"content-type": content_type} if charset else {},
        resolve_relative_uris=False,
        sanitize_html=False,
    )


def _item(entry: Any, url: str) -> FeedItem | None:
    address = _link(entry, url)
    if address is None:
        return None
    return FeedItem(
        link=address,
        title=_title(entry),
        description=truncate_text(entry.get("summary"), MAX_DESCRIPTION),
        published=_date(entry),
    )


def _title(titled: Any) -> str | None:
    """The title of a feed or an entry; markup stays, references in what is HTML are resolved."""
    title = titled.get("title")
    detail = titled.get("title_detail") or {}
    is_html = isinstance(title, str) and detail.get("type") == "text/html"
    return truncate_text(html.unescape(title) if is_html else title, MAX_TITLE)


def _link(entry: Any, url: str) -> str | None:
    """The page of an entry.

    feedburner:origLink comes first: the link beside it leads over a counting host, to which the
    politeness of all the sites would be owed. A guid counts only as it stands: most are numbers.
    Feedparser has resolved xml:base; what is still relative is so to the feed.
    """
    origin = absolute_link(entry.get("feedburner_origlink"), None)
    if origin is not None:
        return origin
    found = absolute_link(entry.get("link"), None if entry.get("guidislink") else url)
    if found is not None:
        return found
    alternates = (each for each in entry.get("links", ()) if each.get("rel") == "alternate")
    return next(filter(None, (absolute_link(each.get("href"), url) for each in alternates)), None)


def _date(entry: Any) -> str | None:
    """The first date that can be read: an edit changes `updated`, and is no new item."""
    for name in _DATES:
        parsed = dict.get(entry, name)  # feedparser's own `get` takes one name for another
        if parsed is None:
            continue
        try:
            moment = datetime(*parsed[:6])  # noqa: DTZ001 - in UTC, as `stamp` has it
        except ValueError:
            continue
        if (text := format_time(moment)) is not None:
            return text
    return None
