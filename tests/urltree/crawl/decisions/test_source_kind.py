"""The kind of a source is recognised by its first bytes, and the sitemaps of a site are found."""

from __future__ import annotations

import gzip

import pytest

from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.source.kind import MAX_SITEMAPS, detect_kind, sitemap_addresses

FEED, SITEMAP, SECTION = SourceKind.FEED, SourceKind.SITEMAP, SourceKind.SECTION
XML = b'<?xml version="1.0"?><!-- <html> --><?xml-stylesheet href="x"?>'


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (XML + b"<urlset xmlns='x'>", "text/html", SITEMAP),
        (XML + b"<s:sitemapindex>", None, SITEMAP),
        (gzip.compress(XML + b"<urlset>"), "application/gzip", SITEMAP),
        (f"\ufeff{''.join(XML.decode())}<urlset>".encode("utf-16"), None, SITEMAP),
        (b"https://a.example/1\nhttps://a.example/2\n", "text/plain", SITEMAP),
        (XML + b"<rss version='2.0'>", "text/html", FEED),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", None, FEED),
        (b"<rdf:RDF>", None, FEED),
        (b' {"version": "https://jsonfeed.org/version/1"}', "text/html", FEED),
        (b"<!doctype html><title>News</title>", "text/html; charset=utf-8", SECTION),
        (b"<p>https://a.example/1", "text/html", SECTION),
        (b"<!doctype html><title>News</title>", None, SECTION),
        (b"%PDF-1.4 <html>", None, None),
        (b"Not found", "text/html", None),
        (b"https://a.example/1 is an address", "text/plain", None),
        (b"", None, None),
    ],
)
def test_the_first_bytes_show_the_kind(
    body: bytes, content_type: str | None, kind: SourceKind | None
) -> None:
    """Feeds, sitemaps and pages are told apart, also if the Content-Type is wrong."""
    assert detect_kind(body, content_type) is kind


def test_the_sitemaps_of_robots_txt_come_first() -> None:
    """`Sitemap` lines of the site are tried before common addresses; other domains are left out."""
    robots = (
        "User-agent: *\nDisallow: /\nSitemap: https://www.a.example/s.xml\nsitemap: /rel.xml\n"
        "Sitemap: https://b.example/s.xml\nSitemap: ftp://a.example/\nSitemap: http://["
    )
    assert sitemap_addresses("https://a.example/city/", robots) == (
        "https://www.a.example/s.xml",
        "https://a.example/rel.xml",
        "https://a.example/news-sitemap.xml",
        "https://a.example/sitemap.xml",
    )


def test_the_number_of_sitemaps_is_limited() -> None:
    """A robots.txt with very many sitemaps causes only a few requests."""
    robots = "".join(f"Sitemap: https://a.example/{at}.xml\n" for at in range(100))
    assert len(sitemap_addresses("https://a.example/", robots)) == MAX_SITEMAPS + 2
    assert len(sitemap_addresses("https://a.example/", None)) == 2
