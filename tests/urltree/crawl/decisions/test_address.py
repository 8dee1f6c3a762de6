"""The address of a feed is an http or https URL in one normalised spelling."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.feed.address import feed_address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.org", "https://example.org/"),
        (" example.org:8080/feed\n", "https://example.org:8080/feed"),
        ("HTTP://Example.ORG:80/Feed", "http://example.org/Feed"),
        ("https://example.org/a b?q=c d", "https://example.org/a%20b?q=c%20d"),
        ("https://example.org/%7e%2F?z=1&a=%e4", "https://example.org/%7e%2F?z=1&a=%e4"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://example.org/feed#top", "https://example.org/feed"),
        ("example.org/?u=http://x/", "https://example.org/?u=http://x/"),
        ("feed://example.org/rss", "http://example.org/rss"),
        ("feed:https://example.org/rss", "https://example.org/rss"),
        ("https://example.org/?of=feed://a.example", "https://example.org/?of=feed://a.example"),
        ("http://[2001:db8::1]/rss", "http://[2001:db8::1]/rss"),
    ],
)
def test_an_address_has_one_spelling(text: str, expected: str) -> None:
    """A typed address becomes the URL that a browser requests; this URL does not change again."""
    assert feed_address(text) == expected
    assert feed_address(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "https://", "ftp://example.org/", "file:///etc/passwd", "http://[::1"),
        *("javascript:alert(1)", "mailto:a@example.org", "https://example.org:99999/"),
        *("https://user:secret@example.org/feed", "a" * 9_000, "https://a b.example/"),
    ],
)
def test_what_is_no_address_of_the_web_is_refused(text: str) -> None:
    """A text that is not an http or https URL is refused with an error of limited length."""
    with pytest.raises(ValueError, match=r"is not an http|contains a user|is too long") as refused:
        feed_address(text)
    assert len(str(refused.value)) < 400
