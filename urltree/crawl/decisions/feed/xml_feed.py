"""Parser for RSS, Atom, RDF and CDF. It uses feedparser, which finds links in damaged feeds too.

Feedparser gets a stream and never text, because it may open text as a file name or an address. Its
SAX parser does not load external entities and limits the expansion of entities. Feedparser reads
4,000 items per second, or 1,500 items of a damaged feed. So `xml_repair.py` removes surplus items
before feedparser reads the feed.
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
    """Parse an XML feed; see `urltree.crawl.decisions.feed.parsing.parse_feed`."""
    body, charset = xml_repair.find_encoding(body, content_type)
    if xml_repair.is_html_page(body):
        raise WebError(Trouble.NOT_A_FEED, "the body is an HTML page")
    short = xml_repair.cut_surplus_items(body, max_items)
    found = _read(xml_repair.replace_invalid_references(short), charset)
    if not found.get("version") and not found["entries"]:
        raise WebError(Trouble.NOT_A_FEED, "the body is not an RSS, Atom, RDF, CDF or JSON feed")
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
    """Parse a body with feedparser; if it fails, parse again without the tags that make it fail."""
    try:
        return _feedparser(body, charset)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a parser may raise anything for hostile input
        body = xml_repair.remove_failing_tags(body)
    try:
        return _feedparser(body, charset)
    except MemoryError:
        raise
    except Exception as error:
        raise WebError(Trouble.NOT_A_FEED, f"the feed cannot be parsed: {error!r:.200}") from error


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
    """Return the title of a feed or an entry with its markup; resolve HTML character references."""
    title = titled.get("title")
    detail = titled.get("title_detail") or {}
    is_html = isinstance(title, str) and detail.get("type") == "text/html"
    return truncate_text(html.unescape(title) if is_html else title, MAX_TITLE)


def _link(entry: Any, url: str) -> str | None:
    """Return the link of an entry.

    The first choice is feedburner:origLink. Without it, the pages of many sites would be requested
    through one host, which counts readers and redirects to the page. A guid is used only if it is
    an absolute URL, because most guids are numbers. Feedparser has already resolved links that are
    relative to xml:base; all others are relative to the feed's URL.
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
    """Return the first readable date of an entry: of publication, of creation, or of an update.

    The date of an update comes last, because an edit changes it but does not make a new item.
    """
    for name in _DATES:
        parsed = dict.get(entry, name)  # feedparser's `get` substitutes one date for another
        if parsed is None:
            continue
        try:
            moment = datetime(*parsed[:6])  # noqa: DTZ001 - `format_time` reads it as UTC
        except ValueError:
            continue
        if (text := format_time(moment)) is not None:
            return text
    return None
