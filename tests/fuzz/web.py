"""Targets that read responses of web servers: feeds, sitemaps, pages, robots.txt, headers."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from agents.commands.feeds.subscriptions import read_feed_list
from tests.fuzz.pages import ADDRESS, text_of
from tests.fuzz.target import Target
from urltree.crawl.decisions.caching import max_age, retry_after
from urltree.crawl.decisions.feed.dates import DayOrder, read_date, read_dates
from urltree.crawl.decisions.feed.parsing import parse_feed
from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.host.page_response import PageError, TryLaterError, check_response
from urltree.crawl.decisions.host.robots import Robots, interpret_robots
from urltree.crawl.decisions.poll.feed_state import new_feed_state
from urltree.crawl.decisions.poll.item_decision import ItemRules, decide_items
from urltree.crawl.decisions.poll.seen_items import SeenItemRow
from urltree.crawl.decisions.response import Response, WebError
from urltree.crawl.decisions.source.kind import detect_kind
from urltree.crawl.decisions.source.section import find_links
from urltree.crawl.decisions.source.section_articles import new_articles
from urltree.crawl.decisions.source.sitemap import parse_sitemap
from urltree.crawl.decisions.source.sitemap_plan import first_look, newest_children

_TYPE = b"application/rss+xml; charset=utf-8\n"
_FEEDS = (
    (
        b'<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/'
        b'elements/1.1/"><channel><title>News</title><ttl>60</ttl><skipHours><hour>1</hour>'
        b"</skipHours><item><title>A &amp; b</title><link>/1</link><guid>1</guid>"
        b"<pubDate>Mon, 06 Sep 2010 00:01:00 +0000</pubDate>"
        b"<description><![CDATA[<p>x]]></description></item>"
        b"<item><title>&lt;b&gt;"
        b"</title><link>https://example.org/2</link><dc:date>2024-02-29</dc:date></item>"
        b"</channel></rss>"
    ),
    (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">N</title><entry>'
        b"<title>A</title>"
        b'<link href="a?b=c&amp;d" rel="alternate"/><id>urn:1</id><updated>2024-02-29T00:00:00Z'
        b'</updated><content type="xhtml"><div>x</div></content></entry></feed>'
    ),
    (
        b'<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax'
        b'-ns#"><channel><title>N</title></channel><item><title>A</title><link>http://a.b/</link>'
        b"</item></rdf:RDF>"
    ),
)
_JSON_FEED = (
    b'{"version":"https://jsonfeed.org/version/1.1","title":"N","items":[{"id":"1","url":"/a",'
    b'"title":"A","content_html":"<p>x","date_published":"2024-02-29T00:00:00Z"}]}'
)
_XML = (
    *(b"<item>", b"</item>", b"<entry>", b"<![CDATA[", b"]]>", b"&#x1F;", b"&#55296;", b"&bad;"),
    *(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<?xml encoding='utf-16'?>", b"<", b">", b"xmlns:x='y'"),
    *(b"<pubDate>99999-99-99", b"<updated>", b"<title>", b"<link href=", b"<hour>99</hour>"),
    *(b"<sy:updatePeriod>hourly", b"xml:base='http://[x'", b"<media:content url=", b"\xef\xbb\xbf"),
    *(b"http://[", b"Mon, 99 Sep 0000 99:99:99 +9999", b"<georss:point>1 2", b"<itunes:duration>"),
)
_OPML = (
    (
        b'<?xml version="1.0"?><opml version="2.0"><body><outline text="Tech"><outline type="rss"'
        b' text="A" xmlUrl="https://example.org/feed" category="/a/b,c"/></outline></body></opml>'
    ),
    b'{"feed":"https://example.org/feed","site":"example.org","title":"T","meta":{"a":"b"}}\n',
    b"# comment\nhttps://example.org/feed\nexample.org/rss\n",
)
_DATES = (
    *(b"Wed, 31 Jan 2024 10:00:00 +0100", b"Wed Jan 31 11:00:00 CET 2024", b"2024-01-31T24:00:00Z"),
    *("31 января 2024 г. в 10:00".encode(), b"mar, 02 ene. 2024 3:04 p.m. GMT-5"),  # noqa: RUF001
    *(b"1706695200", b"31/12/2023", b"10:00 31.01.2024", "2024년 1월 31일 오후 3:00".encode()),
)
_ROBOTS = (
    (
        b"User-agent: *\nDisallow: /private/*.html$\nAllow: /\nCrawl-delay: 2.5\n"
        b"Sitemap: https://example.org/s.xml\n\nUser-agent: urltree\nDisallow: /%7Ex\n"
    ),
)


_STATE = new_feed_state(ADDRESS, "example.org", 0.0)


def _lookup(key: bytes) -> SeenItemRow | None:
    marks = (key[:4], key[4:8], key[8:12], key[12:])
    return None if key[0] < 128 else SeenItemRow(0.0, 0.0, marks)


def _feed(data: bytes) -> None:
    content_type, _, body = data.partition(b"\n")
    charset = text_of(content_type)
    with contextlib.suppress(WebError):
        cut = parse_feed(body, charset, ADDRESS, max_items=1, is_cut=True)
        assert len(cut.items) <= 1
    found = parse_feed(body, charset, ADDRESS, max_items=100, with_former=True, with_content=True)
    decide_items(found.items, _STATE, _lookup, 1.0, ItemRules())
    for item in found.items:
        for text in (item.link, item.title, item.description, item.guid, item.content):
            (text or "").encode()


def _date(data: bytes) -> None:
    text = text_of(data)
    for order in (None, *DayOrder):
        found = read_date(text, order)
        assert found is None or read_date(found) == found
    read_dates([text, text])


def _feed_list(data: bytes) -> None:
    for entry in read_feed_list(data):
        assert entry.refused is None or entry.refused


def _sitemap(data: bytes) -> None:
    found = parse_sitemap(data, ADDRESS, max_items=100)
    taken, memory = first_look(found.items, 1.7e9, left_out=found.left_out)
    new = {item.link for item in memory.find_new(found.items)}
    assert new <= {item.link for item in taken}
    newest_children(found.children)


def _section(data: bytes) -> None:
    detect_kind(data, None)
    links = find_links(data, None, ADDRESS)
    first, learned = new_articles(links, None)
    assert set(first) <= {replace(link, title=None) for link in links} | set(links)
    assert new_articles(links, learned)[0] == ()


def _robots(data: bytes) -> None:
    found = interpret_robots(Response(ADDRESS, 200, {}, data, 0.1), 1.0)
    assert isinstance(found, RobotsText)
    rules = Robots(found)
    rules.allows(ADDRESS)
    rules.allows("https://example.org/private/ä%zz.html?" + data[:40].decode("utf-8", "replace"))
    assert rules.crawl_delay is None or rules.crawl_delay >= 0


def _response(data: bytes) -> None:
    lines, _, body = data.partition(b"\n\n")
    pairs = [line.partition(b": ") for line in lines.split(b"\n")]
    headers = {name.decode("latin-1").lower(): text_of(value) for name, _, value in pairs}
    max_age(headers)
    retry_after(headers, 1.7e9)
    for status in (200, 301, 429, 503):
        with contextlib.suppress(PageError, TryLaterError):
            check_response(Response(ADDRESS, status, headers, body, 0.1))


_RESPONSE = (
    (
        b'cache-control: max-age=60, no-cache="a", s-maxage=1\nage: 5\n'
        b"retry-after: Wed, 21 Oct 2015 07:28:00 GMT\ndate: Wed, 21 Oct 2015 07:28:00 GMT\n"
        b"expires: Thu, 22 Oct 2015 07:28:00 GMT\n"
        b"content-type: text/html\nlocation: /x\nserver: cloudflare\n\n"
        b"<title>Just a moment...</title>"
    ),
)

_SITEMAPS = (
    (
        b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>'
        b"<loc>https://example.org/a?b=c&amp;d</loc><lastmod>2026-11-22T10:00:00+01:00</lastmod>"
        b"<news:news><news:publication_date>2026-11-22</news:publication_date><news:title>T"
        b"</news:title></news:news></url></urlset>"
    ),
    (
        b"<sitemapindex><sitemap><loc>https://example.org/1.xml.gz</loc>"
        b"<lastmod>2026-11-22</lastmod></sitemap></sitemapindex>"
    ),
    b"https://example.org/a\nhttps://example.org/b\n",
)
_SECTIONS = (
    (
        b"<title>News</title><base href=/><nav><a href=/about>About us</a></nav><main>"
        + b"".join(
            b'<div class="teaser t-%d"><h2><a href="/news/2026/a-long-name-%d.html">A headline of'
            b' some words %d</a></h2><a href="/tag/x%d" aria-label="y"><img alt=z></a></div>'
            % ((number,) * 4)
            for number in range(5)
        )
    ),
)

TARGETS = (
    Target(
        "sitemaps",
        _sitemap,
        (WebError,),
        _SITEMAPS,
        (*_XML, b"<loc>", b"</url>", b"<lastmod>", b"\x1f\x8b", b"<url>", b"&amp;", b"9999-12-31"),
    ),
    Target(
        "section-pages",
        _section,
        (),
        _SECTIONS,
        (
            b"<a href=",
            b"</a>",
            b"<h2>",
            b"<nav>",
            b"<base href=",
            b"<svg>",
            b"//",
            b"http://[",
            b"#",
        ),
    ),
    Target(
        "feed-bodies",
        _feed,
        (WebError,),
        (*(_TYPE + feed for feed in _FEEDS), b"application/feed+json\n" + _JSON_FEED),
        _XML,
    ),
    Target(
        "json-feeds",
        lambda data: _feed(b"\n" + data),
        (WebError,),
        (_JSON_FEED,),
        (b"null", b"\\ud800"),
        is_json=True,
    ),
    Target(
        "dates", _date, (), _DATES, (b"/", b":", b"-", b"+0100", b" pm", b"GMT", b"Jan", b"9999")
    ),
    Target(
        "feed-lists", _feed_list, (), _OPML, (b"<outline ", b"xmlUrl='", b"{", b"\n", *_XML[:8])
    ),
    Target(
        "robots",
        _robots,
        (),
        _ROBOTS,
        (b"*", b"$", b"%", b"\nDisallow: ", b"\nUser-agent: urltree\n", b"Crawl-delay: nan", b"\r"),
    ),
    Target(
        "response-headers",
        _response,
        (),
        _RESPONSE,
        (
            b"max-age=",
            b"99999999999999999999",
            b'"',
            b",",
            b"\nretry-after: ",
            b" -9999",
            b"=",
            b";",
        ),
    ),
)
