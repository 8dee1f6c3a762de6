"""Builders of feeds in each format, from the markup inside their items."""

from __future__ import annotations

import orjson

from urltree.crawl.decisions.feed.parsing import ParsedFeed, parse_feed

FEED = "https://news.example.org/blog/feed.xml"
RSS_ITEM = "<item><link>https://news.example.org/1</link></item>"


def parsed(
    body: str | bytes, content_type: str | None = None, max_items: int = 100, **options: bool
) -> ParsedFeed:
    """Parse a body as if it were the response from the URL FEED, with options of `parse_feed`."""
    body = body.encode() if isinstance(body, str) else body
    return parse_feed(body, content_type, FEED, max_items=max_items, **options)


def rss(*items: str, channel: str = "", attributes: str = "") -> str:
    """Return an RSS 2.0 feed; each argument is the content of an item."""
    inside = "".join(f"<item>{item}</item>" for item in items)
    return (
        f'<rss version="2.0" {attributes}><channel><title>News</title>{channel}{inside}'
        "</channel></rss>"
    )


def atom(*entries: str, attributes: str = "") -> str:
    """Return an Atom feed; each argument is the content of an entry."""
    inside = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return (
        f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}><title>News</title>{inside}</feed>'
    )


def json(*items: object, **fields: object) -> bytes:
    """Return a JSON Feed with these items and further top-level fields."""
    version = "https://jsonfeed.org/version/1.1"
    return orjson.dumps({"version": version, "title": "News", "items": list(items)} | fields)
