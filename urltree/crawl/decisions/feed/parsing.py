"""Parser for feeds of all formats.

A hostile body may take much time or memory to parse; `agents.fetching.parsers` limits time and
memory.
"""

from __future__ import annotations

from urltree.crawl.decisions.feed import json_feed, xml_feed
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed, ParseOptions
from urltree.crawl.decisions.response import Trouble, WebError

__all__ = ["ParsedFeed", "parse_feed"]


def parse_feed(  # noqa: PLR0913 - one argument for each decision of the caller
    body: bytes,
    content_type: str | None,
    url: str,
    *,
    max_items: int,
    with_former: bool = False,
    with_content: bool = False,
    is_cut: bool = False,
) -> ParsedFeed:
    """Parse a feed. A damaged feed yields the items that can be read.

    Args:
        body: decompressed body.
        content_type: value of the header Content-Type; only its charset is used.
        url: address of the response; relative links of the feed refer to it.
        max_items: largest number of items to read; the newest items of the feed are read.
        with_former: whether to fill `FeedItem.former_hash`. Some feeds must be parsed twice for it.
        with_content: whether to fill `FeedItem.content`.
        is_cut: whether the body is only the beginning of a larger one; its complete items are read.

    Raises:
        WebError: NOT_A_FEED: the body is not a feed of a known format.
    """
    if not body.strip():
        raise WebError(Trouble.NOT_A_FEED, "the body is empty")
    options = ParseOptions(
        max_items=max_items, with_former=with_former, with_content=with_content, is_cut=is_cut
    )
    if json_feed.is_json(body):
        return json_feed.parse_json_feed(body, url, options)
    return xml_feed.parse_xml_feed(body, content_type, url, options)
