"""Feeds are discovered at an address itself, by the links of its page, or at a common path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agents.commands.feeds.discover import DiscoveredFeeds, FeedDiscovery
from agents.settings.job import Settings
from urltree.crawl.decisions.feed.discovery import COMMON_PATHS, FeedCandidate
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed
from urltree.crawl.decisions.feed.parsing import parse_feed
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.response import Response, Trouble, WebError

SITE = "https://example.org"
URL = f"{SITE}/feed"
RSS = (
    b'<rss version="2.0"><channel><title>News &lt;b&gt;</title>'
    b"<item><title>A</title><link>https://example.org/a</link></item></channel></rss>"
)


class Pages:
    """Fake web client and parser with a few pages; it notes the requested URLs."""

    def __init__(self, pages: Mapping[str, bytes | tuple[int, str]]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] = {},
        *,
        max_bytes: int,  # noqa: ARG002
        wants: Callable[[int, Mapping[str, str]], bool] = lambda *_: True,
    ) -> Response:
        """Return the prepared page, or the prepared status and Location; by default status 404."""
        self.asked.append(url)
        page = self.pages.get(url, (404, ""))
        if isinstance(page, bytes):
            assert wants(200, headers)
            return Response(url, 200, {"content-type": "text/html"}, page, 0.0)
        status, location = page
        return Response(url, status, {"location": location} if location else {}, b"", 0.0)

    async def parse(self, body: bytes, content_type: str | None, url: str) -> ParsedFeed:
        """Parse a feed as the parser processes of a worker do."""
        return parse_feed(body, content_type, url, max_items=10)


def look(
    pages: Pages,
    url: str = f"{SITE}/",
    *,
    everything: bool = False,
    kind: SourceKind | None = None,
) -> DiscoveredFeeds:
    """Return the sources that are discovered at an address."""
    settings = Settings.model_validate({"host_pause": 0})
    discovery = FeedDiscovery(settings, pages, pages)
    return asyncio.run(discovery.at(url, everything=everything, kind=kind))


def naming(*hrefs: str) -> bytes:
    """Return a page that links to these feeds."""
    return "".join(f'<link rel="feed" href="{href}">' for href in hrefs).encode()


def test_a_feed_is_asked_once_and_is_it() -> None:
    """The address of a feed is requested once, and the result has the feed's own title."""
    pages = Pages({URL: RSS})
    assert look(pages, URL) == DiscoveredFeeds((FeedCandidate(URL, "News"),))
    assert pages.asked == [URL]


def test_the_first_feed_of_a_page_that_answers_is_taken_and_the_rest_named() -> None:
    """The first link that leads to a real feed is returned, and the later links are named.

    Dead links and links to pages are skipped. With `everything`, all feeds are returned.
    """
    page = naming("/dead", "/about", "/feed", "/2")
    pages = Pages({f"{SITE}/": page, f"{SITE}/about": b"<p>us", URL: RSS, f"{SITE}/2": RSS})
    assert look(pages) == DiscoveredFeeds(
        (FeedCandidate(URL, "News"),), (FeedCandidate(f"{SITE}/2"),)
    )
    assert f"{SITE}/2" not in pages.asked
    every = look(pages, everything=True)
    assert [feed.url for feed in every.feeds] == [URL, f"{SITE}/2"]
    assert every.others == ()


def test_common_places_are_tried_where_a_page_names_nothing() -> None:
    """If a page links no feed, the common paths are requested in order until one is a feed."""
    place = SITE + COMMON_PATHS[2]
    pages = Pages({f"{SITE}/": b"<p>Hello", place: RSS})
    assert look(pages).feeds == (FeedCandidate(place, "News"),)
    assert pages.asked == [f"{SITE}/", *(SITE + path for path in COMMON_PATHS[:3])]


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [(301, 308, f"{SITE}/new"), (301, 302, f"{SITE}/mid"), (302, 301, f"{SITE}/old")],
)
def test_permanent_redirects_alone_change_the_name_of_a_feed(
    first: int, second: int, name: str
) -> None:
    """Only permanent redirects change the URL of a feed, because temporary ones may end."""
    pages = Pages({f"{SITE}/old": (first, "/mid"), f"{SITE}/mid": (second, "/new")})
    pages.pages = {**pages.pages, f"{SITE}/new": RSS}
    assert look(pages, f"{SITE}/old").feeds[0].url == name


@pytest.mark.parametrize(
    ("page", "trouble"),
    [
        ((301, "/"), Trouble.REDIRECT),
        ((302, "file:///etc/passwd"), Trouble.REDIRECT),
        ((500, ""), Trouble.STATUS),
        (b"<p>Hello", Trouble.NOT_A_FEED),
    ],
)
def test_an_address_without_feed_says_why(page: Any, trouble: Trouble) -> None:
    """The error at an address without a feed names the cause, such as a redirect loop."""
    with pytest.raises(WebError) as error:
        look(Pages({f"{SITE}/": page}))
    assert error.value.trouble is trouble


SITEMAP = b"<urlset><url><loc>https://example.org/a</loc></url></urlset>"
PAGE = b"<!doctype html><a href=/a>After the flood</a>"


def test_a_sitemap_is_asked_once_and_is_it() -> None:
    """The address of a sitemap is a source of its own kind; nothing else is requested."""
    pages = Pages({f"{SITE}/s.xml": SITEMAP})
    found = look(pages, f"{SITE}/s.xml")
    assert found == DiscoveredFeeds((FeedCandidate(f"{SITE}/s.xml"),), kind=SourceKind.SITEMAP)
    assert pages.asked == [f"{SITE}/s.xml"]


def test_a_page_without_feed_leads_to_a_sitemap_of_robots_txt() -> None:
    """The sitemaps that robots.txt names are tried in order until one has pages of the site."""
    robots = b"Sitemap: https://example.org/dead.xml\nSitemap: https://example.org/s.xml"
    pages = Pages({f"{SITE}/": PAGE, f"{SITE}/robots.txt": robots, f"{SITE}/s.xml": SITEMAP})
    assert look(pages) == DiscoveredFeeds(
        (FeedCandidate(f"{SITE}/s.xml"),), kind=SourceKind.SITEMAP
    )
    assert pages.asked[-3:] == [f"{SITE}/robots.txt", f"{SITE}/dead.xml", f"{SITE}/s.xml"]


def test_a_page_without_feed_leads_to_a_common_sitemap() -> None:
    """Without robots.txt, the common addresses of sitemaps are tried."""
    pages = Pages({f"{SITE}/": PAGE, f"{SITE}/sitemap.xml": SITEMAP})
    assert look(pages).feeds == (FeedCandidate(f"{SITE}/sitemap.xml"),)


def test_a_page_without_feed_and_sitemap_is_a_section_page() -> None:
    """The page itself is the source if there is nothing better; pages at other paths are not."""
    pages = Pages({f"{SITE}/city/": PAGE, f"{SITE}/sitemap.xml": PAGE})
    assert look(pages, f"{SITE}/city/") == DiscoveredFeeds(
        (FeedCandidate(f"{SITE}/city/"),), kind=SourceKind.SECTION
    )
    assert len(set(pages.asked)) == len(pages.asked)


def test_a_feed_is_preferred_to_a_sitemap() -> None:
    """A page that names a feed leads to this feed, and its robots.txt is not requested."""
    pages = Pages({f"{SITE}/": naming("/feed"), URL: RSS, f"{SITE}/sitemap.xml": SITEMAP})
    assert look(pages).kind is SourceKind.FEED
    assert pages.asked == [f"{SITE}/", URL]


def test_a_kind_can_be_forced() -> None:
    """With a kind, the address itself is the source, or the feed that its page names."""
    pages = Pages({f"{SITE}/": naming("/feed") + PAGE, URL: RSS, f"{SITE}/s.xml": SITEMAP})
    section = look(pages, kind=SourceKind.SECTION)
    assert section == DiscoveredFeeds((FeedCandidate(f"{SITE}/"),), kind=SourceKind.SECTION)
    assert look(pages, kind=SourceKind.FEED).feeds == (FeedCandidate(URL, "News"),)
    assert look(pages, f"{SITE}/s.xml", kind=SourceKind.SITEMAP).kind is SourceKind.SITEMAP


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (SourceKind.SITEMAP, PAGE),
        (SourceKind.SITEMAP, RSS),
        (SourceKind.SITEMAP, SITEMAP.replace(b"example.org", b"other.example")),
        (SourceKind.SECTION, b"%PDF-1.4"),
        (SourceKind.SECTION, b"<!doctype html><p>Nothing here"),
        (SourceKind.FEED, PAGE),
        (SourceKind.FEED, SITEMAP),
    ],
)
def test_a_source_of_another_kind_is_refused(kind: SourceKind, body: bytes) -> None:
    """An address that is not of the kind that the user names is an error."""
    with pytest.raises(WebError) as error:
        look(Pages({f"{SITE}/": body, f"{SITE}/sitemap.xml": SITEMAP}), kind=kind)
    assert error.value.trouble is Trouble.NOT_A_FEED


def test_a_section_page_obeys_robots_txt() -> None:
    """A page that robots.txt forbids cannot be followed, because its polls would be forbidden."""
    robots = b"User-agent: *\nDisallow: /city/"
    pages = Pages({f"{SITE}/city/": PAGE, f"{SITE}/robots.txt": robots})
    with pytest.raises(WebError, match=r"robots\.txt forbids"):
        look(pages, f"{SITE}/city/")
    with pytest.raises(WebError, match=r"robots\.txt forbids"):
        look(pages, f"{SITE}/city/", kind=SourceKind.SECTION)
