"""Inputs that grow: twice the size may take only a little more than twice the CPU time.

Each family makes inputs of any size for one target. The time is measured at n, 2n and 4n; the
exponent is the power of the size with which the time grows: 1 is linear, 2 is quadratic.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

from tests.fuzz.fuzzing import TARGETS, seconds_of

STEEPEST = 1.6  # largest exponent; linear families measured 0.9 to 1.2
_TOO_SHORT = 0.01  # seconds; shorter times are not compared
_ENOUGH = 0.04  # seconds of CPU at 4n at which no larger n is tried
_LARGEST = 2_000_000  # bytes at 4n
_TRIES = 3  # measurements of a family that seems too steep, because machines are noisy


class Family(NamedTuple):
    """Inputs of any size: `make` gets the number of repetitions."""

    target: str
    name: str
    make: Callable[[int], bytes]


class Growth(NamedTuple):
    """The CPU times of one family, in seconds, at n, 2n and 4n."""

    family: Family
    size: int
    seconds: tuple[float, float, float]

    @property
    def exponent(self) -> float:
        """Return the power of the size with which the time grows."""
        first, _, last = self.seconds
        return log2(max(last, 1e-9) / max(first, 1e-9)) / 2

    @property
    def is_too_fast(self) -> bool:
        """Whether the time grows too fast."""
        return self.seconds[-1] > _TOO_SHORT and self.exponent > STEEPEST

    def __str__(self) -> str:
        times = ", ".join(f"{1e3 * seconds:.1f}" for seconds in self.seconds)
        return (
            f"{self.family.target:<18}{self.family.name:<28}{self.size:>11,} bytes: {times} ms, "
            f"exponent {self.exponent:.2f}"
        )


def growth_of(family: Family) -> Growth:
    """Measure a family, at a size at which its time is long enough to be compared."""
    number = 64
    while True:
        growth = _measure(family, number)
        if growth.seconds[-1] >= _ENOUGH or growth.size * 2 > _LARGEST:
            break
        number *= 2 if growth.seconds[-1] > _ENOUGH / 4 else 4
    for _ in range(_TRIES - 1):
        if not growth.is_too_fast:
            break
        growth = min(growth, _measure(family, number), key=lambda one: one.exponent)
    return growth


def _measure(family: Family, number: int) -> Growth:
    target = TARGETS[family.target]
    inputs = [family.make(number * factor) for factor in (1, 2, 4)]
    one, two, four = (seconds_of(target, data) for data in inputs)
    return Growth(family, len(inputs[-1]), (one, two, four))


def _page(unit: str, *, before: str = "", after: str = "") -> Callable[[int], bytes]:
    start, end = f"text/html\n{before}".encode(), after.encode()
    return lambda n: start + unit.encode() * n + end


def _sitemap(unit: str) -> Callable[[int], bytes]:
    return lambda n: f"<urlset>{unit * n}".encode()


def _feed(unit: str, *, before: str = "<rss><channel>", after: str = "") -> Callable[[int], bytes]:
    start, end = f"application/rss+xml\n{before}".encode(), after.encode()
    return lambda n: start + unit.encode() * n + end


def _url(unit: str, *, before: str = "https://example.org/") -> Callable[[int], bytes]:
    return lambda n: (before + unit * n).encode()


def _json(before: str, unit: str, after: str) -> Callable[[int], bytes]:
    return lambda n: (before + ",".join([unit] * n) + after).encode()


_MARKUP = {
    "nested div": _page("<div>x"),
    "nested empty div": _page("<div>"),
    "nested span": _page("<span>x"),
    "unclosed a": _page("<a href=x>y"),
    "unclosed p": _page("<p>x"),
    "misnested b and p": _page("<b><p>x</b>"),
    "misnested a and table": _page("<table><a>x<tr>"),
    "end tags without start": _page("</x>", before="<div>" * 100),
    "end tags of p": _page("</p>"),
    "nested tables": _page("<table><tr><td>x"),
    "nested lists": _page("<ul><li>x"),
    "nested forms": _page("<form><input>"),
    "nested svg": _page("<svg>x"),
    "open scripts": _page("<script>x"),
    "open comments": _page("<!--x"),
    "comments": _page("<!---->"),
    "comments with hyphens": _page("-", before="<!--"),
    "declarations": _page("<!x"),
    "instructions": _page("<?x"),
    "CDATA": _page("<![CDATA["),
    "less than": _page("<"),
    "less than slash": _page("</"),
    "ampersands": _page("&"),
    "named entities": _page("&amp;"),
    "unknown entities": _page("&abcdef;"),
    "numbered entities": _page("&#x10ffff;"),
    "long number": _page("9", before="&#"),
    "letters": _page("a"),
    "spaces": _page(" "),
    "lines in pre": _page("\n", before="<pre>"),
    "spaces in pre": _page(" ", before="<pre>x", after="y"),
    "quotes in a tag": _page('"', before="<p a="),
    "attributes": lambda n: b"text/html\n<p " + b" ".join(b"a%d=b" % at for at in range(n)) + b">x",
    "equal attributes": _page("a=b ", before="<p ", after=">x"),
    "one long attribute": _page("a", before="<p class=", after=">x"),
    "class names": _page("ab1 ", before="<p class='", after="'>x"),
    "styles": _page("display:none;", before="<p style='", after="'>x"),
    "hidden elements": _page("<p hidden>x"),
    "one tag name": _page("a", before="<"),
    "headings": _page("<h1>x</h1>"),
    "titles": _page("<title>x</title>"),
    "canonical links": _page("<link rel=canonical href=x>"),
    "JSON-LD": _page('<script type="application/ld+json">{"a":[[]]}</script>'),
    "meta without end": _page("<meta "),
    "inline text": _page("<b>x</b> "),
    "line breaks": _page("x<br>"),
    "links in a block": _page("<a href=y>x</a> "),
    "combining accents": _page("́", before="<p>a"),
    "letters of two forms": _page("ﬃ Å "),
    "surrogates in UTF-16": lambda n: b"text/html\n" + "<p>\U0001f600".encode("utf-16-le") * n,
    "bytes that are not UTF-8": lambda n: b"text/html\n<p>" + b"\xe4\xf6 " * n,
    "NUL bytes": lambda n: b"text/html\n<p>" + b"a\0" * n,
    "open tags in windows-1252": lambda n: b"text/html\n\xe4" + b"<a" * n,
    "open scripts in windows-1252": lambda n: b"text/html\n\xe4" + b"<script>" * n,
    "windows-1251": lambda n: "text/html\n<p>Новости дня ".encode("cp1251") * n,
}

FAMILIES = (
    *(Family("tokenizer", name, make) for name, make in _MARKUP.items()),
    *(Family("pipeline", name, make) for name, make in _MARKUP.items()),
    *(Family("links", name, make) for name, make in _MARKUP.items()),
    Family("links", "open links", _page("<link rel=canonical ")),
    Family("links", "equals", _page("a=", before="<link rel=canonical ", after=">")),
    Family("links", "letters in a link", _page("a", before="<link rel=canonical ", after=">")),
    Family("links", "links to feeds", _page("<a href=/feed/rss.xml>x</a>")),
    Family("links", "ends of a script", _page("</script ", before="<script>")),
    Family("url-key", "segments", _url("a/")),
    Family("url-key", "empty segments", _url("/")),
    Family("url-key", "dot segments", _url("a/../")),
    Family("url-key", "escapes", _url("%7E")),
    Family("url-key", "broken escapes", _url("%")),
    Family("url-key", "letters that are escaped", _url("ä")),
    Family("url-key", "parameters", _url("a=b&", before="https://example.org/?")),
    Family("url-key", "parameters without name", _url("&", before="https://example.org/?")),
    Family("url-key", "labels", _url("a.", before="https://")),
    Family("url-key", "letters in a host", _url("ü", before="https://")),
    Family("url-key", "at signs", _url("@", before="https://a")),
    Family("feed-address", "prefixes", _url("feed:", before="")),
    Family(
        "raw-html", "escaped surrogates", _json('{"url":"http://a.b/","html":"', "\\ud800", '"}')
    ),
    Family(
        "raw-html",
        "backslashes",
        lambda n: b'{"url":"http://a.b/","html":"\\ud800' + b"\\\\" * n + b'"}',
    ),
    Family(
        "raw-html", "redirects", _json('{"url":"http://a.b/","html":"a","redirects":[', '"x"', "]}")
    ),
    Family("raw-html", "nested arrays", lambda n: b'{"a":' + b"[" * n + b"]" * n + b"}"),
    Family(
        "raw-html",
        "meta",
        lambda n: (
            b'{"url":"http://a.b/","html":"a","meta":{'
            + b",".join(b'"%d":""' % at for at in range(n))
            + b"}}"
        ),
    ),
    Family(
        "raw-html-headers",
        "headers",
        lambda n: b"url: http://a.b/\n" + b"meta.a: b\n" * n + b"\n<p>a",
    ),
    Family(
        "raw-html-headers",
        "redirects",
        lambda n: b"url: http://a.b/\nredirects: " + b"[" * n + b"\n\n<p>a",
    ),
    Family("documents", "vouched", _json('{"schema":1,"vouched":"', "1", '"}')),
    Family(
        "poll-outcomes",
        "items",
        _json(
            '{"schema":1,"site":"s","feed":"f","sequence":1,"at":2,"result":"items","items":[',
            '["00000000000000000000000000000000",1,true]',
            "]}",
        ),
    ),
    Family("dead-letters", "headers", lambda n: b"a/0/1\nurltree-message: x\n" + b"a: b\n" * n),
    Family("origins", "digits", lambda n: b"a/0/" + b"1" * n),
    Family("origins", "letters", lambda n: b"a" * n),
    Family("sitemaps", "pages", _sitemap("<url><loc>https://example.org/a</loc></url>")),
    Family("sitemaps", "nested pages", _sitemap("<url><loc>")),
    Family("sitemaps", "end tags", _sitemap("</url>")),
    Family("sitemaps", "ampersands", _sitemap("&")),
    Family("section-pages", "links", _page("<a href=/news/a-long-name>A headline</a>")),
    Family("section-pages", "open elements", _page("<div class=menu><a href=/x>x")),
    Family("feed-bodies", "items", _feed("<item><title>a</title><link>http://a.b/</link></item>")),
    Family("feed-bodies", "open items", _feed("<item><title>a")),
    Family("feed-bodies", "nested elements", _feed("<a>")),
    Family("feed-bodies", "end tags", _feed("</a>")),
    Family("feed-bodies", "less than", _feed("<")),
    Family("feed-bodies", "ampersands", _feed("&")),
    Family("feed-bodies", "entities", _feed("&#x1F;")),
    Family("feed-bodies", "CDATA", _feed("<![CDATA[x]]>", before="<rss><channel><item><title>")),
    Family("feed-bodies", "open CDATA", _feed("<![CDATA[")),
    Family("feed-bodies", "declarations", _feed("<!x", before="<rss>")),
    Family("feed-bodies", "hours", _feed("<hour>1</hour>", before="<rss><channel><skipHours>")),
    Family("feed-bodies", "a long title", _feed("a ", before="<rss><channel><item><title>")),
    Family("feed-bodies", "attributes", _feed("a='b' ", before="<rss><channel><item ")),
    Family("feed-bodies", "spaces before the root", _feed(" ", before="", after="<rss><item>")),
    Family("feed-bodies", "quotes", _feed('"', before="<rss a=")),
    Family("feed-bodies", "dated items", _feed("<item><pubDate>31. Mai 2024</pubDate></item>")),
    Family("feed-bodies", "open dates", _feed("<item><pubDate ")),
    Family("feed-bodies", "containers", _feed("<rss>", before="", after="<item></item>")),
    Family("feed-bodies", "open guids", _feed("<guid>", before="<rss xml:base='http://a.b/'>")),
    Family("feed-bodies", "media", _feed("<media:description ", before="<rss><channel><item>")),
    Family("feed-bodies", "tags", _feed("&lt;b a='", before="<rss><channel><item><title>")),
    Family("dates", "digits", lambda n: b"1" * n),
    Family("dates", "months", lambda n: b"Jan " * n),
    Family(
        "json-feeds",
        "fields of a cut feed",
        lambda n: b'{"version":"https://jsonfeed.org/version/1",' + b'"a":1,' * n,
    ),
    Family(
        "json-feeds",
        "items",
        _json(
            '{"version":"https://jsonfeed.org/version/1","items":[',
            '{"url":"/a","title":"b"}',
            "]}",
        ),
    ),
    Family(
        "json-feeds",
        "nested arrays",
        lambda n: b'{"version":"https://jsonfeed.org/version/1","items":' + b"[" * n,
    ),
    Family(
        "feed-lists",
        "outlines",
        lambda n: b"<opml><body>" + b'<outline xmlUrl="http://a.b/" category="a"/>' * n,
    ),
    Family("feed-lists", "nested outlines", lambda n: b"<opml><body>" + b"<outline text=a>" * n),
    Family("feed-lists", "lines", lambda n: b"http://a.b/\n" * n),
    Family(
        "feed-lists",
        "categories",
        lambda n: b"<opml><body><outline xmlUrl='http://a.b/' category='" + b"a/b," * n + b"'/>",
    ),
    Family("robots", "wildcards", lambda n: b"User-agent: *\nDisallow: /" + b"*a" * n),
    Family("robots", "rules", lambda n: b"User-agent: *\n" + b"Disallow: /a*b\n" * n),
    Family("robots", "groups", lambda n: b"User-agent: a\nDisallow: /\n" * n),
    Family(
        "robots",
        "agents",
        lambda n: b"".join(b"User-agent: a%d\n" % at for at in range(n)) + b"Disallow: /",
    ),
    Family("robots", "escapes", lambda n: b"User-agent: *\nDisallow: /" + b"%7E" * n),
    Family("response-headers", "cache-control", lambda n: b"cache-control: " + b"a=b, " * n),
    Family("response-headers", "open quotes", lambda n: b"cache-control: " + b'a="' * n),
    Family("response-headers", "letters", lambda n: b"cache-control: " + b"a" * n),
    Family("response-headers", "spaces", lambda n: b"cache-control: a" + b" " * n + b"b"),
    Family("response-headers", "retry-after", lambda n: b"retry-after: " + b"1 " * n),
    Family(
        "response-headers", "date", lambda n: b"expires: Wed, " + b"(" * n + b"\ndate: " + b"0:" * n
    ),
)
