"""The keys of an item: the same in every release, and the same although an item changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.identity import (
    identify,
    is_global,
    is_random,
    link_key,
    plain_text,
    words_of,
)

ITEM = FeedItem(
    "https://news.example/story?id=7&utm_source=rss",
    "Title 1",
    "<p>Text</p>",
    "2024-01-01T10:00:00+00:00",
    "2024-01-02T10:00:00+00:00",
    "7",
)


def test_the_keys_are_the_same_in_every_release() -> None:
    """The keys and marks of an item are pinned, or all items would be new after an upgrade."""
    found = identify(ITEM, "news.example", "https://news.example/rss")
    keys = (found.link, found.guid, found.text, found.loose, found.revisit)
    assert [key and key.hex() for key in keys] == [
        "e5f1e593fb07040367f11ed2efbe2a7d",
        "1f64a56939c77687c499c0f7cef51aac",
        "f2885a5d2c8c8d14ba4898f57a619086",
        "d55557fd08f2c2fe3aaa50bcd7a6acd8",
        "685201411c4bbaea1630b3470a09379c",
    ]
    assert [mark.hex() for mark in (*found.marks, *found.words, found.updated)] == [
        "0ddba518",
        "d24e81e7",
        "863623a4",
        "7b5f9437",
        "7932423e",
        "98dbff6b",
        "8c413739",
    ]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("https://a.org/x", "http://a.org/x", True),
        ("https://a.org/x?b=1&a=2", "https://a.org/x?a=2&b=1&gclid=3", True),
        ("https://a.org/x", "https://a.org/x;jsessionid=1", True),
        ("https://a.org/x", "https://a.org/x#top", True),
        ("https://a.org/?p=1", "https://a.org/?p=2", False),
        ("https://a.org/x", "https://www.a.org/x", False),
        ("https://a.org/x", "https://a.org/X", False),
        ("https://a.org:8443/x", "https://a.org/x", False),
        ("no address", "no other address", False),
    ],
)
def test_only_noise_is_left_out_of_a_link(one: str, other: str, is_same: bool) -> None:
    """Links have the same key only if they differ in noise, scheme, fragment or order."""
    assert (link_key(one) == link_key(other)) is is_same


@pytest.mark.parametrize(
    ("guid", "expected"),
    [
        ("https://news.example/?p=1", True),
        ("HTTP://www.news.example/1", True),
        ("tag:news.example,2020:1", True),
        ("tag:editor@blog.news.example,2020-01-01:1", True),
        ("https://example/?p=1", False),
        ("https://othernews.example/1", False),
        ("tag:blogger.com,1999:blog-1.post-2", False),
        ("urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", False),
        ("ftp://news.example/1", False),
        ("news.example/1", False),
        ("https://[", False),
        ("1", False),
    ],
)
def test_only_a_uri_of_the_own_domain_counts_across_feeds(guid: str, expected: bool) -> None:
    """Any other guid counts within its feed."""
    assert is_global(guid, "news.example") is expected


def test_a_text_has_no_markup_and_no_addresses() -> None:
    """Tags, also escaped ones, addresses and superfluous white space are left out."""
    html = "A &lt;b&gt;bold&lt;/b&gt;<img src='x'> &amp; http://a.org/?x=1 <p>text\n www.a.org/2"
    assert plain_text(html) == "A bold & text"
    assert plain_text("3 < 4 > 2") != ""
    assert plain_text(None) == ""


def test_words_are_letters() -> None:
    """Digits and punctuation do not count, in any language."""
    assert words_of("12 Kommentare, ÜBER 3km") == "kommentare über km"
    assert words_of("第3回 ニュース") == "第 回 ニュース"


def test_an_item_without_title_is_compared_by_its_text() -> None:
    """The mark of the title is then the mark of the text."""
    found = identify(replace(ITEM, title=None), "news.example", "feed")
    assert found.marks[1] == found.marks[3] != bytes(4)
    empty = identify(FeedItem("https://a.org/"), "a.org", "feed")
    assert (empty.text, empty.guid, empty.marks[1:]) == (None, None, (bytes(4),) * 3)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("9f86d081884c7d65", True), ("20270115", False), ("2027-01-15", False), ("berlin", False)],
)
def test_a_session_is_a_random_value(value: str, expected: bool) -> None:
    """Numbers, dates and words are no sessions."""
    assert is_random(value) is expected
