"""Autodiscovery finds the feeds of a page and nothing else, and returns the main feed first."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.feed.discovery import (
    MAX_CANDIDATES,
    FeedCandidate,
    common_feeds,
    find_feeds,
)

BASE = "https://example.org/blog/"


def links(*attributes: str) -> bytes:
    """Return a page with these links in its head."""
    return (
        "".join(f"<link {each}>" for each in attributes)
        .join(("<!doctype html><html><head><title>T</title>", "</head><body>"))
        .encode()
    )


def urls(html: bytes, base: str = BASE) -> list[str]:
    """Return the URLs of the feeds that autodiscovery finds in a page, in order."""
    return [found.url for found in find_feeds(html, base)]


def test_feeds_come_in_the_order_of_the_page_and_comments_last() -> None:
    """Feeds are returned in the order of the page, but feeds of comments come last.

    Sites link their main feed first, except that some software links the comments first.
    """
    html = links(
        'rel="alternate" type="application/rss+xml" title="T » Comments" href="/a/"',
        'rel="alternate" type="application/rss+xml" href="/comments/feed/"',
        'rel="alternate" type="application/rss+xml" title="T » Feed" href="/feed/"',
        'rel="alternate" type="application/atom+xml" href="atom"',
    )
    assert find_feeds(html, BASE) == (
        FeedCandidate("https://example.org/feed/", "T » Feed"),
        FeedCandidate("https://example.org/blog/atom"),
        FeedCandidate("https://example.org/a/", "T » Comments"),
        FeedCandidate("https://example.org/comments/feed/"),
    )


@pytest.mark.parametrize(
    "link",
    [
        'rel=alternate type=application/rss+xml href="https://example.org/f"',
        'rel="ALTERNATE home" type="Application/RSS+XML; charset=utf-8" href=" /f "',
        'rel="alternate" type="application/feed+json" href="//example.org/f"',
        'rel="feed" href="/f"',
        'rel="alternate" type="text/xml" href="../f#top"',
    ],
)
def test_a_link_to_a_feed_is_found_however_it_is_written(link: str) -> None:
    """A link to a feed is found whatever its case, quotes, parameters or white space."""
    assert urls(links(link)) == ["https://example.org/f"]


@pytest.mark.parametrize(
    "link",
    [
        'rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1"',
        'rel="alternate" type="application/json+oembed" href="/oembed"',
        'rel="alternate" type="text/xml+oembed" href="/oembed"',
        'rel="alternate" hreflang="de" href="/de/"',
        'rel="stylesheet" type="text/css" href="/feed"',
        'rel="alternate" type="application/rss+xml" href=""',
        'rel="alternate" type="application/rss+xml" href="javascript:alert(1)"',
        'rel="alternate" type="application/rss+xml" href="file:///etc/passwd"',
        'rel="alternate" type="application/rss+xml" href="http://[/"',
    ],
)
def test_what_is_no_feed_is_not_found(link: str) -> None:
    """Links to APIs, translations, style sheets, and URLs other than http are not feeds."""
    assert urls(links(link)) == []


@pytest.mark.parametrize(
    ("href", "is_found"),
    [
        *(("/feed", True), ("/feed/", True), ("/rss.xml", True), ("/blog.rss", True)),
        *(("/index.xml", True), ("/?feed=rss2", True), ("/news?format=atom&x=1", True)),
        *(("/feedback", False), ("/feeds/help", False), ("/rss-explained", False)),
        *(("/sitemap.xml", False), ("/search?q=feed", False), ("#feed", False)),
    ],
)
def test_a_link_in_the_text_is_found_where_it_looks_like_a_feed(href: str, is_found: bool) -> None:
    """A link in the body is a feed if its URL looks like one, as some sites have no other link."""
    assert bool(urls(f'<p><a href="{href}">x</a>'.encode())) == is_found


def test_what_the_head_says_comes_before_what_the_text_links() -> None:
    """Feeds from the head come before feeds from the body, and each URL is returned once."""
    html = b'<a href="/rss">RSS</a>' + links('rel="feed" href="/f"', 'rel="feed" href="/f#2"')
    assert urls(html) == ["https://example.org/f", "https://example.org/rss"]


def test_links_are_relative_to_the_base_of_the_page() -> None:
    """Relative links are resolved against the page's `<base>`, as in browsers."""
    html = links('rel="feed" href="f"').replace(b"<link", b'<base href="//cdn.example/x/"><link', 1)
    assert urls(html) == ["https://cdn.example/x/f"]


@pytest.mark.parametrize("html", [b"", b"\0\xff<link", b"<a href=/feed>" * 700_000])
def test_no_page_makes_trouble(html: bytes) -> None:
    """In an empty page, binary bytes, or too many tags, no feed is found and no error is raised."""
    assert urls(html) == []


def test_a_page_has_only_so_many_feeds() -> None:
    """Of the feeds that a page links, at most MAX_CANDIDATES are returned."""
    html = links(*(f'rel="feed" href="/{n}"' for n in range(MAX_CANDIDATES + 1)))
    assert len(urls(html)) == MAX_CANDIDATES


def test_common_places_are_those_of_the_site() -> None:
    """Common feed paths such as `/feed` begin at the root of the site, not at the page's path."""
    assert common_feeds("https://example.org/blog/?x=1")[0] == FeedCandidate(
        "https://example.org/feed"
    )


def test_a_base_that_is_no_url_is_ignored() -> None:
    """A page whose `<base>` is invalid has the feeds that it names, relative to its address."""
    html = links('rel="feed" href="f"').replace(b"<link", b'<base href="http://["><link', 1)
    assert urls(html) == ["https://example.org/blog/f"]
