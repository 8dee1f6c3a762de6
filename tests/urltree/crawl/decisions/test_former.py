"""No item is new because of this release: each has the hash that the previous release stored.

`former_items.json` contains feeds of many kinds, with cut characters, dates of all forms and titles
with markup, and the hashes of their items. The previous release, 0.1.0, computed these hashes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import feedparser
import pytest

from tests.urltree.crawl.decisions.feeds import parsed, rss
from urltree.crawl.decisions.feed.former import align
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import MAX_DESCRIPTION


class Former(NamedTuple):
    """A feed, and the hashes that the previous release computed for its items, in hexadecimal."""

    name: str
    body: bytes
    hashes: list[str]


def former_feeds() -> Iterator[Former]:
    """Yield the feeds of `former_items.json`."""
    path = Path(__file__).with_name("former_items.json")
    for feed in json.loads(path.read_text(encoding="utf-8")):
        yield Former(feed["name"], feed["body"].encode(feed["encoding"]), feed["hashes"])


FEEDS = list(former_feeds())


@pytest.fixture(autouse=True)
def no_chardet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let feedparser guess encodings without chardet, which some environments have."""
    monkeypatch.setattr(feedparser.encodings, "lazy_chardet_encoding", None)


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.name)
def test_an_item_has_the_hash_of_the_previous_release(feed: Former) -> None:
    """The former hashes of a feed's items are those that the previous release stored."""
    found = parsed(feed.body, with_former=True)
    assert [(item.former_hash or b"").hex() for item in found.items] == feed.hashes


def test_the_former_hash_is_computed_on_demand() -> None:
    """Without `with_former` there is no former hash: some feeds must be parsed twice for it."""
    assert {item.former_hash for feed in FEEDS for item in parsed(feed.body).items} == {None}


def test_most_mends_change_the_hash() -> None:
    """The hash of a mended item is another one, so the first test does not pass by itself."""
    changed = {
        feed.name
        for feed in FEEDS
        for item in parsed(feed.body, with_former=True).items
        if item.hash != item.former_hash
    }
    assert changed >= {"cut Japanese", "dates", "dates of JSON", "titles", "descriptions"}


def test_a_long_description_is_cut_as_before() -> None:
    """The previous release hashed the first 64 KiB of a description."""
    body = rss(f"<link>https://a.org/1</link><description>{'ü' * 50_000}</description>")
    hashed = FeedItem("https://a.org/1", None, "ü" * (MAX_DESCRIPTION // 2)).hash
    assert parsed(body, with_former=True).items[0].former_hash == hashed


def test_items_above_the_limit_have_their_hash() -> None:
    """The items of a feed that is too long have the same former hashes as in a short feed."""
    items = [f"<link>/{day}</link><pubDate>{day:02} Jan 2024</pubDate>" for day in range(1, 29)]
    found = parsed(rss(*items), max_items=9, with_former=True).items
    (last,) = parsed(rss(items[-1]), with_former=True).items
    assert found[-1].former_hash == last.former_hash == last.hash


def test_former_entries_are_found_by_their_links() -> None:
    """If the previous release read another number of entries, those with the same link are used."""
    assert align(["a", "b", None, "c"], [1, 2, 3], ["b", None, "a"]) == [3, 1, None, None]
    assert align(["a", "b"], [1, 2], ["x", "y"]) == [1, 2]
