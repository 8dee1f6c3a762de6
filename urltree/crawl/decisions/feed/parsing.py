"""Parser for feeds of all formats.

A hostile body may take much time or memory to parse; `agents.fetching.parsers` limits time and
memory.
"""

from __future__ import annotations

from urltree.crawl.decisions.feed import json_feed, xml_feed
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed
from urltree.crawl.decisions.response import Trouble, WebError

__all__ = ["ParsedFeed", "parse_feed"]


def parse_feed(body: bytes, content_type: str | None, url: str, *, max_items: int) -> ParsedFeed:
    """Parse a feed. A damaged feed yields the items that can be read.

    Args:
        body: decompressed body.
        content_type: value of the header Content-Type; only its charset is used.
        url: address of the response; relative links of the feed refer to it.
        max_items: largest number of items to read; the first items of the feed are read.

    Raises:
        WebError: NOT_A_FEED: the body is not a feed of a known format.
    """
    if not body.strip():
        raise WebError(Trouble.NOT_A_FEED, "the body is empty")
    if json_feed.is_json(body):
        return json_feed.parse_json_feed(body, url, max_items=max_items)
    return xml_feed.parse_xml_feed(body, content_type, url, max_items=max_items)
