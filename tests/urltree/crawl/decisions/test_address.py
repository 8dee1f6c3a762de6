"""The address of a feed is an http or https URL in one normalised spelling."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from urltree.crawl.decisions.feed.address import feed_address, has_credentials, mask_credentials

TYPED = "s3cr3t"


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
        ("https:/example.org/rss", "https://example.org/rss"),
        ("http:\\\\example.org\\rss", "http://example.org/rss"),
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


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://user:s3cr3t@example.org/feed", "https://***@example.org/feed"),
        ("https://s3cr3t@example.org/feed?a=@", "https://***@"),
        ("https://:s3cr3t@example.org:8443/", "https://***@example.org:8443/"),
        (" user:s3cr3t@example.org/feed", "https://***@example.org/feed"),
        ("https:/user:s3cr3t@example.org", "https://***@example.org/"),
        ("https:\\\\user:s3cr3t@example.org", "https://***@example.org/"),
        ("feed://user:s3cr3t@example.org/", "http://***@example.org/"),
        ("https://user:s3cr@3t@example.org/", "https://***@example.org/"),
        ("https://user:s3/cr3t@example.org/", "https://***@example.org/"),  # not a URL
        ("https://user:s3cr3t@exa mple.org/", "https://***@exa mple.org/"),
        ("ftp://user:s3cr3t@example.org/", "ftp://***@example.org/"),
        ("https://example.org/@me/feed", "https://example.org/@me/feed"),  # no password
        ("https://example.org/?by=me@example.org", "https://example.org/?by=me@example.org"),
        ("no address", "no address"),
    ],
)
def test_a_user_name_and_password_are_masked(text: str, masked: str) -> None:
    """An address is shown with *** in place of a user name and password, and is else unchanged."""
    assert mask_credentials(text) == masked
    assert has_credentials(text) is (masked != text)
    assert mask_credentials(masked) == masked


WORDS = st.text(st.sampled_from("aé:@/\\?#[]% \t\n\ud800"), max_size=4)


@given(st.sampled_from(["", "https://", "http:/", "feed:https://", "ftp://"]), WORDS, WORDS, WORDS)
@example("https://", "", "@", "@")
@example("", ":", ":@", "?")
@example("https://", "a@", "/", "")
def test_no_message_shows_a_password(scheme: str, user: str, begin: str, end: str) -> None:
    """Whatever is wrong with the address, its error shows no part of a password before the host."""
    text = f"{scheme}{user}:{begin}{TYPED}{end}@example.org/feed"
    assert not has_credentials(text) or TYPED not in mask_credentials(text)
    said = message(text)
    assert TYPED not in said
    assert "user name" not in said or "--credentials" in said


def message(text: str) -> str:
    """Return the error message for an address; an address that is accepted has no password."""
    try:
        url = feed_address(text)
    except ValueError as error:
        return str(error)
    assert not has_credentials(url)
    return ""
