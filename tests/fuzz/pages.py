"""Targets that read pages and addresses: the tokenizer, the whole pipeline, links, URL keys."""

from __future__ import annotations

from models import clean_text, raw_html
from models import document as documents
from tests.fuzz.target import Target
from urltree.address.url import normalise
from urltree.address.url_key import KeyScheme, branch, key_with_id
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.feed.discovery import find_feeds
from urltree.crawl.decisions.host.head_links import find_head_links
from urltree.crawl.decisions.host.walls import find_wall
from urltree.html.tokenizer import MAX_BLOCKS, MAX_DEPTH, tokenize
from urltree.page import Page, PageError
from urltree.pipeline import Options, Pipeline, Superseded
from urltree.site.packed_document import pack, unpack
from urltree.site.row import Row

ORIGIN = "raw-html/3/1042"
ADDRESS = "https://example.org/news/a?id=1"
PAGE = b"""text/html; charset=utf-8
<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A title &amp; more</title>
<base href="/x/"><link rel=canonical href="/news/a"><link rel="amphtml" href=a.amp>
<link rel=alternate type="application/rss+xml" href=/feed title=News>
<meta name=author content="Somebody"><meta property="og:title" content=A>
<script type="application/ld+json">{"@type":"Article","author":{"name":"B"}}</script>
<style>p { color: red }</style></head><body class="home page-1"><!-- comment -->
<nav id=menu><ul><li><a href=/>Home</a><li><a href="/b?c=d&amp;e">More</a></ul></nav>
<div class="post entry"><h1>A title</h1><p>One <b>bold</b> and <i>other</i> text&nbsp;here.
<p>Two<br>lines <a href='#x'>link</a></p><pre>  code
   more</pre><table><tr><td>1<td>2</table><blockquote>said</blockquote><img alt=x src=y></div>
<svg><text>no</text></svg><template><p>no</template><select><option>a</select>
<footer hidden style="display:none">&copy; 2024</footer></body></html>"""
SMALL = b"text/html\n<p>One <b>two</b><div><ul><li>three<li>four</ul>five<a href=x>six</a>"
OTHERS = (
    "text/html; charset=windows-1251\n<p>Новости дня и погода на завтра".encode("cp1251"),
    "text/html; charset=shift_jis\n<p>こんにちは世界".encode("shift_jis"),
    b"text/html\n" + "<html><p>wide</p>ö</html>".encode("utf-16-le"),
    b'text/html\n<?xml version="1.0" encoding="iso-8859-2"?><html><p>za\xbf\xf3\xb3\xe6',
    b"application/xhtml+xml\n<html xmlns='http://www.w3.org/1999/xhtml'><p><![CDATA[x]]></html>",
    "text/html\n<h2>見出し</h2><p>本文です。<ol><li>一<li>二</ol><dl><dt>a<dd>b</dl>".encode(),
)
_TAG_NAMES = """p div a b li ul table tr td pre br html body head title script style svg math
template form select h1 noscript textarea iframe frameset plaintext base main article"""
TAGS = (
    *(f"<{slash}{tag}>".encode() for tag in _TAG_NAMES.split() for slash in ("", "/")),
    *(b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"<!DOCTYPE", b"&amp;", b"&#x110000;", b"&#0;"),
    *(b"&lt", b"&#xd800;", b"=", b'"', b"'", b'class="a b"', b"hidden", b"style='display:none'"),
    *(b"charset=utf-16", b"charset=x", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\xa0", b"/>", b"<"),
)

URLS = (
    *(b"http://u:p@EXAMPLE.com.:80/a/../%7Eb%2fc?z=1&a=%E4#top", b"https://example.org/"),
    *(b"http://abcnews.go.com/kabc/story?section=news&id=8691010&utm_source=rss",),
    "https://bücher.example.co.uk:8443/straße/é?q=ü&q=1#!/x".encode(),
    *(b"http://[2001:db8::1]:8080/a;jsessionid=1?b", b"http://0x7f.1/", b"feed://example.org/rss"),
    b"https://a.b.github.io/x//y/?PHPSESSID=0&&=&a=b;c#!",
)
_URL_WORDS = (
    *(b"%", b"%2", b"%00", b"%zz", b"//", b"/../", b"?", b"&", b"=", b"#!", b"@", b":", b"[", b"]"),
    *(b"xn--", b"\xe3\x80\x82", b".", b"..", b"%2e%2e", b"\\", b"\t", b"utm_source=", b"_cid_=1"),
    *(b":65536", b"http:", b"https://", b";", b"+", b"%F0%9F%98%80", b"%ED%A0%80"),
)

SCHEME = KeyScheme()
_DROPPING = KeyScheme(query="drop")
_PIPELINE = Pipeline(Options(revise=True, markdown=True, revisits="replace"), "all")


def text_of(data: bytes) -> str:
    """Decode an input to any string that Python can hold, lone surrogates included."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _tokenize(data: bytes) -> None:
    content_type, _, html = data.partition(b"\n")
    page = tokenize(html, text_of(content_type))
    assert len(page.blocks) <= MAX_BLOCKS
    assert all(element.parent < at for at, element in enumerate(page.elements))
    depths = [0]
    for element in page.elements:
        depths.append(depths[element.parent + 1] + 1)
    assert max(depths) <= MAX_DEPTH
    for block in page.blocks:
        assert block.text
        assert 0 <= block.element < len(page.elements)
        assert 0 <= block.link_share <= 1
        block.text.encode()


class _NoRows:
    """The rows of a site that has none."""

    def row(self, document_id: bytes) -> bytes | None:  # noqa: ARG002
        return None

    def rows(self) -> tuple[tuple[bytes, bytes], ...]:
        return ()

    first_page, first_pages = row, rows


def _through_the_pipeline(data: bytes) -> None:
    """Take a page through all that both stages do, and compare what is stored and read again."""
    content_type, _, html = data.partition(b"\n")
    title = text_of(data[-20:])
    learn(Page(url=ADDRESS, html=html, content_type=text_of(content_type), title=title))


def learn(page: Page) -> None:
    """Take a page through the pipeline and its records, without Kafka."""
    _PIPELINE.admit(page)
    document = _PIPELINE.document(page, ORIGIN, SCHEME)
    stored = documents.encode(document)
    received = documents.decode(stored)
    assert documents.encode(received) == stored
    assert unpack(pack(received)) == received
    site = _PIPELINE.new_site()
    learned = _PIPELINE.learn(document, site, _NoRows())
    assert not isinstance(learned, Superseded)
    row = Row.decode(learned.row)
    assert row.encode() == learned.row
    value = clean_text.encode(_PIPELINE.extraction(document, learned.verdict))
    assert clean_text.decode(value)["origin"] == ORIGIN


def _links(data: bytes) -> None:
    content_type, _, html = data.partition(b"\n")
    find_feeds(html, ADDRESS, text_of(content_type))
    find_head_links(html, ADDRESS)
    headers = {"server": text_of(content_type), "location": text_of(data[-40:])}
    for status in (200, 302, 403):
        find_wall(status, headers, html)


def _key(data: bytes) -> None:
    url = text_of(data)
    normal = normalise(url)
    assert normalise(str(normal)) == normal
    for scheme in (SCHEME, _DROPPING):
        key = scheme.key(url, lambda: url)
        assert scheme.domain(url) == key.domain
        names = branch(key.domain, key.key)
        key_with_id(key.domain, names, key.id)


def _feed_address(data: bytes) -> None:
    url = feed_address(text_of(data))
    assert feed_address(url) == url


def _raw_html(data: bytes) -> None:
    learn(raw_html.decode(data))


def _raw_html_in_headers(data: bytes) -> None:
    lines, _, html = data.partition(b"\n\n")
    headers = []
    for line in lines.split(b"\n"):
        name, _, content = line.partition(b": ")
        headers.append((name.decode("utf-8", "replace"), content))
    page = raw_html.decode(html, headers)
    value, again = raw_html.to_record(page)
    if page.url or page.response_url:
        assert raw_html.decode(value, again) == page
    learn(page)


_FIELDS = {
    "url": ADDRESS,
    "html": "<p>One <b>two</b><p>three",
    "title": "T",
    "published": "2024-02-29T23:59:59.123456+01:00",
    "fetched_at": "2024-03-01t00:00:00z",
    "status": 200,
    "redirects": ["http://example.org/", "https://example.org/news"],
    "meta": {"crawl": "7"},
    "feed": "https://example.org/feed",
}
_HEADERS = (
    b"url: https://example.org/a\nstatus: 200\nschema: 1\nmeta.crawl: 7\n"
    b'redirects: ["http://example.org/"]\npublished: 2024-02-29T23:59:59Z\nurltree-origin: a/0/1'
    b"\n\n<p>One <b>two</b>"
)
_SEEDS = (PAGE, SMALL, SMALL, *OTHERS)

TARGETS = (
    Target("tokenizer", _tokenize, (PageError,), _SEEDS, TAGS),
    Target("pipeline", _through_the_pipeline, (PageError,), _SEEDS, TAGS),
    Target("links", _links, (), _SEEDS, TAGS),
    Target("url-key", _key, (PageError,), URLS, _URL_WORDS),
    Target("feed-address", _feed_address, (ValueError,), URLS, _URL_WORDS),
    Target(
        "raw-html",
        _raw_html,
        (PageError,),
        (
            raw_html.encode(Page.from_fields(_FIELDS)),
            b'{"url":"http://a.b/","html_base64":"PHA+YQ=="}',
        ),
        (b"\\ud800", b"\\u0000", b'"html":', b'"meta":{', b"null", b"1e999"),
        is_json=True,
    ),
    Target(
        "raw-html-headers",
        _raw_html_in_headers,
        (PageError,),
        (_HEADERS,),
        (b"\nurl: ", b"\nstatus: ", b"\nmeta.: ", b"\nredirects: [[", b"\n\n", b"\xff", b"\xb2"),
    ),
)
