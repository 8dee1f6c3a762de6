"""The body of an answer → what the feed says.

A hostile body may take long, or much memory: `agents.polling.parsers` bounds both.
"""

from __future__ import annotations

from urltree.crawl.decisions.answer import Trouble, WebError
from urltree.crawl.decisions.feed import json_feed, xml_feed
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed

__all__ = ["ParsedFeed", "parse"]


def parse(body: bytes, content_type: str | None, url: str, *, max_items: int) -> ParsedFeed:
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
        return json_feed.parse(body, url, max_items=max_items)
    return xml_feed.parse(body, content_type, url, max_items=max_items)
