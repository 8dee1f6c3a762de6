"""The request for the page of a new item."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.polling.new_items import FEED_CONTENT_MAX, encode_within, request_page
from models.crawl import fetch as fetches
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import Subscription, new_feed_state
from urltree.crawl.decisions.poll.item_decision import Decision
from urltree.crawl.decisions.poll.source_options import Content, SourceOptions
from urltree.page import PageError, Reason

NOW = 1_800_000_000.0
ITEM = FeedItem("https://a.example/1", "Title", "Text", None, content="<p>Full text</p>")
STATE = new_feed_state(
    "https://a.example/rss", "a.example", NOW, Subscription(meta={"team": "a"}, offset=7)
)
DECISION = Decision((ITEM,), (), {}, STATE, (), is_first_poll=True)


def test_a_request_names_its_feed_and_when_it_was_found() -> None:
    """The owner of the host needs them for deny rules, removals and later attempts."""
    fetch = request_page(STATE, DECISION, ITEM, NOW)
    assert (fetch.url, fetch.title, fetch.meta) == (ITEM.link, "Title", {"team": "a"})
    assert (fetch.site, fetch.feed, fetch.feed_offset) == ("a.example", STATE.feed, 7)
    assert (fetch.named_at, fetch.is_first_poll, fetch.is_revisit) == (NOW, True, False)
    assert (fetch.content, fetch.feed_content, fetch.credentials) == (Content.PAGE, None, None)


def test_the_text_of_the_feed_is_sent_only_if_it_is_wanted_and_short() -> None:
    """A text of more than a megabyte is dropped, and the page is fetched."""
    state = replace(STATE, options=SourceOptions(content=Content.FEED))
    fetch = request_page(state, DECISION, ITEM, NOW)
    assert (fetch.content, fetch.feed_content) == (Content.FEED, ITEM.content)
    for content in (None, "ü" * (FEED_CONTENT_MAX // 2 + 1)):
        fetch = request_page(state, DECISION, replace(ITEM, content=content), NOW)
        assert (fetch.content, fetch.feed_content) == (Content.PAGE, None)


def test_only_five_items_are_read_both_ways() -> None:
    """With `content: auto`, the number of the item decides."""
    state = replace(STATE, options=SourceOptions(content=Content.AUTO))
    contents = [request_page(state, DECISION, ITEM, NOW, number).content for number in (4, 5)]
    assert contents == [Content.AUTO, Content.PAGE]


@pytest.mark.parametrize("for_pages", [True, False])
def test_credentials_go_with_pages_only_if_the_user_wants_it(for_pages: bool) -> None:
    """By default the credentials of a feed are sent to the feed alone."""
    options = SourceOptions(credentials="site", are_credentials_for_pages=for_pages)
    fetch = request_page(replace(STATE, options=options), DECISION, ITEM, NOW)
    assert fetch.credentials == ("site" if for_pages else None)


def test_a_request_that_is_too_large_loses_the_text_of_the_feed() -> None:
    """The item is not lost: its page is fetched instead."""

    def check_size(value: bytes) -> None:
        if len(value) > 600:
            raise PageError(Reason.TOO_LARGE, "too large")

    state = replace(STATE, options=SourceOptions(content=Content.FEED))
    long = request_page(state, DECISION, replace(ITEM, content="x" * 1_000), NOW)
    assert fetches.decode(encode_within(long, check_size)).content is Content.PAGE
    with pytest.raises(PageError):
        encode_within(replace(long, feed_content=None, title="x" * 1_000), check_size)
