"""RSS, Atom, RDF, CDF and JSON feeds are parsed, whether intact or damaged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.urltree.crawl.decisions.feeds import atom, json, parsed, rss
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsing import ParsedFeed
from urltree.crawl.decisions.response import Trouble, WebError

DAY = "2024-01-01T10:00:00+00:00"
ITEM = FeedItem("https://news.example.org/blog/1", "One & two", "<p>First</p>", DAY)

RSS = rss(
    "<title>One &amp;amp; two</title><link>/blog/1</link>"
    "<description>&lt;p&gt;First&lt;/p&gt;</description>"
    "<pubDate>Mon, 01 Jan 2024 11:00:00 +0100</pubDate>"
)
ATOM = atom(
    '<title>One &amp; two</title><link href="1"/><id>urn:1</id>'
    '<summary type="html">&lt;p&gt;First&lt;/p&gt;</summary>'
    "<published>2024-01-01T11:00:00+01:00</published><updated>2024-02-02T00:00:00Z</updated>"
)
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://news.example.org/"><title>News</title></channel>
  <item rdf:about="https://news.example.org/blog/1"><title>One &amp;amp; two</title>
  <link>https://news.example.org/blog/1</link>
  <description>&lt;p&gt;First&lt;/p&gt;</description><dc:date>2024-01-01T10:00Z</dc:date></item>
</rdf:RDF>"""
CDF = """<CHANNEL HREF="https://news.example.org/"><TITLE>News</TITLE>
  <ITEM HREF="https://news.example.org/blog/1" LASTMOD="2024-01-01T10:00Z">
  <TITLE>One &amp;amp; two</TITLE><ABSTRACT>&lt;p&gt;First&lt;/p&gt;</ABSTRACT></ITEM></CHANNEL>"""
JSON = json(
    {
        "id": "1",
        "url": "/blog/1",
        "title": "One & two",
        "content_html": "<p>First</p>",
        "date_published": "2024-01-01T11:00:00+01:00",
        "date_modified": "2024-02-02T00:00:00Z",
    }
)
FORMATS = {"rss": RSS, "atom": ATOM, "rdf": RDF, "cdf": CDF, "json": JSON}


@pytest.mark.parametrize("body", FORMATS.values(), ids=FORMATS)
def test_an_item_is_the_same_in_every_format(body: str | bytes) -> None:
    """An item is equal in every format, except for its guid and update, which some formats lack."""
    found = parsed(body)
    items = tuple(replace(item, guid=None, updated=None) for item in found.items)
    assert replace(found, items=items) == ParsedFeed(title="News", items=(ITEM,))


def test_a_version_of_json_feed_is_as_good_as_the_other() -> None:
    """JSON Feed version 1 is parsed like version 1.1, because they differ only in authors."""
    assert parsed(json(version="https://jsonfeed.org/version/1")).title == "News"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n",
        b"<!DOCTYPE html><p>Gone",
        b"<HTML><title>a</title>",
        b"hello",
        b"\xff\xfe",
        b"{",
        b"{}",
        b'{"version": 1, "items": []}',
        json(items={}),
        b"{" * 100_000,
        b"\0" * 9,
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<a/>",
        b"<!--",
    ],
)
def test_what_is_no_feed_is_an_error(body: bytes) -> None:
    """A body that is not a feed, most often an HTML page, raises the error `not-a-feed`."""
    with pytest.raises(WebError) as caught:
        parsed(body)
    assert caught.value.trouble is Trouble.NOT_A_FEED


@pytest.mark.parametrize("body", [rss(), atom(), json()])
def test_a_feed_without_items_is_a_feed(body: str | bytes) -> None:
    """A feed without items is valid: a new site may not have published anything yet."""
    assert parsed(body) == ParsedFeed(title="News")


@pytest.mark.parametrize(
    "damaged",
    [
        RSS.removesuffix("</channel></rss>"),
        RSS[: RSS.index("</item>")],
        RSS.replace("News", "News & <br> &nbsp;"),
        RSS.replace("<item>", "<item><x:y>"),
        "\n" + RSS,
    ],
)
def test_a_damaged_feed_gives_what_it_has(damaged: str) -> None:
    """The items of a damaged feed are read, although feedparser sets its `bozo` flag."""
    assert [item.link for item in parsed(damaged).items] == [ITEM.link]


@pytest.mark.parametrize(
    ("item", "link"),
    [
        ("<link>http://EX.org:80/a b?q=ü#top</link>", "http://ex.org/a%20b?q=%C3%BC#top"),
        ("<link> \n//cdn.example.org/1\n </link>", "https://cdn.example.org/1"),
        ("<link>../1</link>", "https://news.example.org/1"),
        ("<guid>https://a.org/1</guid>", "https://a.org/1"),
        ('<guid isPermaLink="true">https://a.org/1</guid>', "https://a.org/1"),
        ("<guid>https://a.org/1</guid><link>/2</link>", "https://news.example.org/2"),
        ("<link>/2</link><guid>https://a.org/1</guid>", "https://news.example.org/2"),
        ("<f:origLink>https://a.org/1</f:origLink><link>https://f.org/2</link>", "https://a.org/1"),
        ("<f:origLink>javascript:</f:origLink><link>https://f.org/2</link>", "https://f.org/2"),
        ("<link xml:base='https://b.org/c/'>1</link>", "https://b.org/c/1"),
        ("<title>t</title><a:link href='https://a.org/1'/>", "https://a.org/1"),
    ],
)
def test_the_link_of_an_rss_item_is_an_address(item: str, link: str) -> None:
    """An item's link is resolved as in a browser, and Feedburner's origLink replaces it."""
    spaces = (
        'xmlns:f="http://rssnamespace.org/feedburner/ext/1.0" xmlns:a="http://www.w3.org/2005/Atom"'
    )
    assert [found.link for found in parsed(rss(item, attributes=spaces)).items] == [link]


@pytest.mark.parametrize(
    ("entry", "link"),
    [
        ('<link rel="self" href="/s"/><link rel="alternate" href="/1"/>', "/1"),
        ('<link rel="alternate" type="text/html" href="/1"/><link rel="edit" href="/e"/>', "/1"),
        ('<link type="application/pdf" href="/1.pdf"/><link type="text/html" href="/1"/>', "/1"),
        ('<link type="application/pdf" href="/1.pdf"/>', "/1.pdf"),
        ("<id>https://news.example.org/1</id>", "/1"),
    ],
)
def test_the_link_of_an_atom_entry_is_its_alternate(entry: str, link: str) -> None:
    """The link of an entry is its alternate link, or else its id if this is a URL.

    A link to HTML takes precedence over links to other media types.
    """
    assert [found.link for found in parsed(atom(entry)).items] == [
        "https://news.example.org" + link
    ]


def test_xml_base_is_nested() -> None:
    """Each xml:base is resolved against the base of the enclosing element (XML Base, section 4)."""
    entry = '<link xml:base="c/" href="1"/>'
    assert parsed(atom(entry, attributes='xml:base="https://b.org/"')).items == (
        FeedItem("https://b.org/c/1"),
    )
    assert parsed(atom(entry)).items == (FeedItem("https://news.example.org/blog/c/1"),)


def test_the_link_of_a_json_item_may_be_elsewhere() -> None:
    """Without a url, the link of a JSON item is its external_url, or an id that is a URL."""
    found = parsed(
        json({"external_url": "https://a.org/1"}, {"id": "https://a.org/2"}, {"id": 3}, "4", {})
    )
    assert [item.link for item in found.items] == ["https://a.org/1", "https://a.org/2"]
    assert found.skipped == 3


@pytest.mark.parametrize(
    "item",
    [
        "<title>No link</title>",
        "<link>mailto:a@b.org</link>",
        "<link>file:///etc/passwd</link>",
        "<link>javascript:alert(1)</link>",
        "<link>http://[</link>",
        "<guid>4711</guid>",
        '<guid isPermaLink="false">https://a.org/1</guid>',
        "<link>http://a:99999/</link>",
        "<enclosure url='https://a.org/1.mp3'/>",
        f"<link>http://a.org/{'x' * 9_000}</link>",
    ],
)
def test_an_item_without_a_page_is_left_out_and_counted(item: str) -> None:
    """An item without a link to a web page is not returned, but counted as skipped."""
    assert parsed(rss(item)) == ParsedFeed(title="News", skipped=1)
