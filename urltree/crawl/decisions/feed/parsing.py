"""The body of an answer → what the feed says.

A hostile body may take long, or much memory: `agents.polling.parsers` bounds both.
"""

from __future__ import annotations

from urltree.crawl.decisions.feed import json_feed, xml_feed
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed
from urltree.crawl.decisions.response import Trouble, WebError

__all__ = ["ParsedFeed", "parse_feed"]


def parse_feed(body: bytes, content_type: str | None, url: str, *, max_items: int) -> ParsedFeed:
    """Read a feed; damage alone is no error, a damaged feed gives what it has.

    Args:
        body: decompressed.
        content_type: the header verbatim; only its charset counts.
        url: of the answer, which relative links are relative to.
        max_items: how many items are looked at; those are the first.

    Raises:
        WebError: `not-a-feed`.
    """
    if not body.strip():
        raise WebError(Trouble.NOT_A_FEED, "is empty")
    if json_feed.is_json(body):
        return json_feed.parse_json_feed(body, url, max_items=max_items)
    return xml_feed.parse_xml_feed(body, content_type, url, max_items=max_items)
