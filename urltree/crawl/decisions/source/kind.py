"""The kind of a source: what the answer of an address is, and where a site's sitemaps may be.

    <urlset>, <sitemapindex>, lines of addresses     sitemap
    <rss>, <feed>, <rdf:RDF>, JSON                   feed
    HTML                                             section page, unless it names a feed

Only the first bytes of the body decide, because the Content-Type of feeds and sitemaps is often
wrong. A feed that is damaged at its beginning has no kind here; the parser of feeds may read it.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from protego import Protego

from urltree.crawl.decisions.feed import json_feed
from urltree.crawl.decisions.feed.parsed_feed import absolute_link
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.source.section import key_scheme
from urltree.crawl.decisions.source.sitemap_body import SitemapChunks
from urltree.html.encoding import is_binary
from urltree.page import PageError
from urltree.reading.admission import may_be_html

COMMON_SITEMAPS = ("/news-sitemap.xml", "/sitemap.xml")
MAX_SITEMAPS = 10  # sitemaps of a robots.txt that are tried

_HEAD = 4_096  # bytes that are searched for the first element
_HIDDEN = re.compile(rb"<!--.*?(?:-->|\Z)|<[?!][^>]*>", re.DOTALL)
_FIRST_TAG = re.compile(rb"<(?:[\w.-]{1,40}:)?([a-z]{1,20})[\s/>]", re.IGNORECASE)
_ADDRESS_LINE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*https?://[^\s<>]+[ \t]*(?:[\r\n]|\Z)", re.IGNORECASE
)
_KINDS = {
    b"urlset": SourceKind.SITEMAP,
    b"sitemapindex": SourceKind.SITEMAP,
    b"rss": SourceKind.FEED,
    b"feed": SourceKind.FEED,
    b"rdf": SourceKind.FEED,
    b"channel": SourceKind.FEED,
}


def detect_kind(body: bytes, content_type: str | None) -> SourceKind | None:
    """Return the kind of a source; None if the body is neither XML that is known nor HTML.

    Args:
        body: body of the response; a sitemap may be compressed with gzip.
        content_type: value of the header Content-Type; it only shows that a body is not HTML.
    """
    if json_feed.is_json(body):
        return SourceKind.FEED
    head = next(iter(SitemapChunks(body)), b"")[:_HEAD]
    if _ADDRESS_LINE.match(head):
        return SourceKind.SITEMAP
    first = _FIRST_TAG.search(_HIDDEN.sub(b"", head))
    if first is not None and first[1].lower() in _KINDS:
        return _KINDS[first[1].lower()]
    if first is not None and may_be_html(content_type) and not is_binary(body):
        return SourceKind.SECTION
    return None


def sitemap_addresses(url: str, robots: str | None) -> tuple[str, ...]:
    """Return the addresses at which the sitemaps of a site may be, without duplicates.

    Args:
        url: address of any page of the site.
        robots: text of the site's robots.txt; None if there is none. Its `Sitemap` lines come
            first. Those on another registrable domain are left out.
    """
    named = list(Protego.parse(robots).sitemaps)[:MAX_SITEMAPS] if robots else []
    found = [absolute_link(address, url) for address in named]
    found += [urljoin(url, path) for path in COMMON_SITEMAPS]
    return tuple(dict.fromkeys(each for each in found if each and _is_same_site(each, url)))


def _is_same_site(address: str, url: str) -> bool:
    try:
        return key_scheme().domain(address) == key_scheme().domain(url)
    except PageError:
        return False
