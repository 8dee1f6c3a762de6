"""Sitemaps, news sitemaps, indexes and text sitemaps are parsed, whether intact or damaged."""

from __future__ import annotations

import gzip
import tracemalloc
from datetime import datetime, timedelta, timezone
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import SitemapChild
from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.decisions.source import sitemap as module
from urltree.crawl.decisions.source.known_addresses import KnownAddresses
from urltree.crawl.decisions.source.sitemap import ParsedSitemap, SitemapKind, parse_sitemap
from urltree.crawl.decisions.source.sitemap_body import MAX_BYTES, SitemapChunks
from urltree.crawl.decisions.source.sitemap_dates import (
    latest_time,
    modified_time,
    read_w3c_date,
)

SITE = "https://www.news.example"
URL = f"{SITE}/sitemap.xml"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><urlset'
    ' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
)


def page(address: str, *, lastmod: str = "", inside: str = "") -> str:
    """Return an entry of a sitemap."""
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{address}</loc>{inside}{dated}</url>"


def parsed(*entries: str, **options: float) -> ParsedSitemap:
    """Return a parsed sitemap with these entries."""
    return parse_sitemap(f"{HEAD}{''.join(entries)}</urlset>".encode(), URL, **options)  # type: ignore[arg-type]


def links(found: ParsedSitemap) -> list[str]:
    """Return the addresses of the items without the site."""
    return [item.link.removeprefix(SITE) for item in found.items]


def test_a_sitemap_gives_addresses_with_the_date_of_their_last_change() -> None:
    """The address and `lastmod` of each entry are read; other elements are ignored."""
    found = parsed(
        page(f"{SITE}/a?x=1&amp;y=2", lastmod="2026-11-22T10:00:00+01:00"),
        page(f"{SITE}/b", inside="<changefreq>daily</changefreq><priority>0.5</priority>"),
    )
    assert found.kind is SitemapKind.PAGES
    assert found.items == (
        FeedItem(link=f"{SITE}/a?x=1&y=2", updated="2026-11-22T09:00:00+00:00"),
        FeedItem(link=f"{SITE}/b"),
    )
    assert found.counts.read == 2


def test_a_news_sitemap_gives_titles_and_dates_of_publication() -> None:
    """The date and title of `news:news` are read; addresses and titles of images are not."""
    news = (
        "<image:image><image:loc>https://i.example/1.png</image:loc>"
        "<image:title>Picture</image:title></image:image>"
        "<news:news><news:publication><news:name>The News</news:name></news:publication>"
        "<news:publication_date>2026-11-22</news:publication_date>"
        "<news:title>After &amp; before</news:title><news:keywords>a, b</news:keywords></news:news>"
    )
    found = parsed(page(f"{SITE}/a", inside=news))
    assert found.kind is SitemapKind.NEWS
    assert found.items == (
        FeedItem(link=f"{SITE}/a", title="After & before", published="2026-11-22T00:00:00+00:00"),
    )


def test_an_index_gives_its_children_once() -> None:
    """The children of an index are read with the time of their last change, without duplicates."""
    body = (
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<sitemap><loc>{SITE}/1.xml.gz</loc><lastmod>2026-11-22T00:00:00Z</lastmod></sitemap>"
        f"<sitemap><loc>{SITE}/2.xml</loc></sitemap><sitemap><loc>{SITE}/2.xml</loc></sitemap>"
        f"<sitemap><loc>{URL}</loc></sitemap></sitemapindex>"
    )
    found = parse_sitemap(body.encode(), URL)
    assert found.kind is SitemapKind.INDEX
    assert found.children == (
        SitemapChild(url=f"{SITE}/1.xml.gz", modified=1_795_305_600.0),
        SitemapChild(url=f"{SITE}/2.xml"),
    )


def test_a_text_sitemap_has_one_address_a_line() -> None:
    """Each line of a text sitemap is an address; lines that are no addresses are counted."""
    found = parse_sitemap(f"\ufeff{SITE}/a\r\n\r\nabout us\n{SITE}/b".encode(), URL)
    assert links(found) == ["/a", "/b"]
    assert found.counts.unlinked == 1


@pytest.mark.parametrize(
    "body", ["<rss><channel/></rss>", '<feed xmlns="http://www.w3.org/2005/Atom"/>']
)
def test_a_feed_that_is_given_as_a_sitemap_is_called_a_feed(body: str) -> None:
    """Feeds are allowed as sitemaps; the kind tells the caller to use the parser of feeds."""
    assert parse_sitemap(body.encode(), URL).kind is SitemapKind.FEED


@pytest.mark.parametrize("body", ["", "Not found", "<html><body>404</body></html>", "{}", "<a/>"])
def test_anything_else_is_refused(body: str) -> None:
    """A page or an unknown document is not a sitemap without entries, but an error."""
    with pytest.raises(WebError) as error:
        parse_sitemap(body.encode(), URL)
    assert error.value.trouble is Trouble.NOT_A_FEED


def test_pages_of_other_domains_are_left_out_and_counted() -> None:
    """A sitemap speaks for its registrable domain, with all of its hosts, and for no other."""
    found = parsed(
        page("https://sport.news.example/a"), page("https://other.example/b"), page("ftp://x/y")
    )
    assert [item.link for item in found.items] == ["https://sport.news.example/a"]
    assert (found.counts.other_host, found.counts.unlinked) == (1, 1)


@pytest.mark.parametrize(
    "spelled", ["x&y=1", "x&amp;y=1", "x&amp;amp;y=1", "<![CDATA[x&y=1]]>", "x&#38;y=1"]
)
def test_an_ampersand_is_read_however_it_is_escaped(spelled: str) -> None:
    """An address with a lone ampersand is invalid XML; it is read as it was meant."""
    tail = spelled.removeprefix("<![CDATA[") if spelled.startswith("<") else spelled
    address = f"<![CDATA[{SITE}/?{tail}" if tail != spelled else f"{SITE}/?{spelled}"
    assert links(parsed(page(address))) == ["/?x&y=1"]


@pytest.mark.parametrize(
    "encode",
    [
        gzip.compress,
        lambda body: body.decode().replace("UTF-8", "UTF-16").encode("utf-16"),
        lambda body: gzip.compress(body[:50]) + gzip.compress(body[50:]),
        lambda body: b"\n " + body,
        lambda body: (
            body.replace(b"urlset", b"s:urlset")
            .replace(b"xmlns=", b"xmlns:s=")
            .replace(b"<url>", b"<s:url>")
            .replace(b"</url>", b"</s:url>")
            .replace(b"loc>", b"s:loc>")
        ),
    ],
    ids=["gzip", "UTF-16", "two gzip members", "blanks", "prefix"],
)
def test_a_sitemap_is_read_in_every_form(encode: object) -> None:
    """Compression, encoding and prefixes of a file do not change what is read."""
    body = f"{HEAD}{page(f'{SITE}/a')}</urlset>".encode()
    assert links(parse_sitemap(encode(body), URL)) == ["/a"]  # type: ignore[operator]


def test_a_damaged_file_yields_what_can_be_read() -> None:
    """A file that ends too early yields the entries before its end, and is called cut."""
    whole = f"{HEAD}{page(f'{SITE}/a')}{page(f'{SITE}/b')}".encode()
    assert links(parse_sitemap(whole, URL)) == ["/a", "/b"]
    assert links(parse_sitemap(whole[:-10], URL))[:1] == ["/a"]
    assert links(parse_sitemap(whole.replace(b"</url>", b"", 1), URL)) == ["/a", "/b"]
    packed = gzip.compress(whole + b"<url>" * 9_999, 0)
    found = parse_sitemap(packed[:-20_000], URL)
    assert links(found) == ["/a", "/b"]
    assert found.is_cut
    assert not parse_sitemap(whole + b"</urlset>", URL).is_cut


def test_only_pages_after_a_date_are_taken() -> None:
    """Older pages are left out and counted; those without date may be new, so they are taken."""
    found = parsed(
        page(f"{SITE}/old", lastmod="2026-11-19T23:00:00Z"),
        page(f"{SITE}/new", lastmod="2026-11-20T01:00:00Z"),
        page(f"{SITE}/undated"),
        page(f"{SITE}/day", lastmod="2026-11-20"),
        page(f"{SITE}/month", lastmod="2026-01"),
        taken_after=datetime.fromisoformat("2026-11-20T00:30:00Z").timestamp(),
    )
    assert links(found) == ["/new", "/undated", "/day", "/month"]
    assert found.counts.too_old == 1
    assert found.left_out == KnownAddresses.of([f"{SITE}/old"])


@pytest.mark.parametrize(
    ("dates", "are_meaningless"),
    [
        ([""] * 30, True),
        (["2026-11-22T10:00:00Z"] * 20 + ["2026-01-01", "2026-02-01"], True),
        (["2026-11-22T10:00:00Z"] * 19, False),
        (["2026-11-22T10:00:00Z"] * 20 + [f"2026-10-{day:02}" for day in range(1, 21)], False),
        (["2026-11-22", ""], True),
        (["2026-11-22", "", "2026-11-21"], False),
    ],
    ids=["none", "one run of a program", "few", "half", "half without", "most"],
)
def test_dates_that_say_nothing_are_recognised(dates: list[str], are_meaningless: bool) -> None:
    """Dates are meaningless if most are missing, or if most were stamped within an hour.

    It makes no difference which pages are taken. Dates of publication are believed.
    """
    pages = [page(f"{SITE}/{at}", lastmod=date) for at, date in enumerate(dates)]
    assert parsed(*pages).are_dates_meaningless is are_meaningless
    assert parsed(*pages, taken_after=2e9, max_items=1).are_dates_meaningless is are_meaningless
    news = "<news:news><news:publication_date>2026-11-22</news:publication_date></news:news>"
    assert not parsed(*pages, page(f"{SITE}/n", inside=news)).are_dates_meaningless


def test_the_newest_pages_are_taken_if_there_are_too_many() -> None:
    """With a limit, the newest pages are taken, in the order of the file."""
    days = [5, 9, 2, 8]
    entries = [page(f"{SITE}/{day}", lastmod=f"2026-11-{day:02}T12:00:00Z") for day in days]
    found = parsed(page(f"{SITE}/undated"), *entries, max_items=2)
    assert links(found) == ["/9", "/8"]
    assert found.counts.beyond_limit == 3
    assert found.left_out == KnownAddresses.of(f"{SITE}/{name}" for name in ("5", "2", "undated"))
    assert links(parsed(page(f"{SITE}/undated"), *entries, max_items=5)) == [
        "/undated",
        "/5",
        "/9",
        "/2",
        "/8",
    ]
    assert links(parsed(*entries, max_items=0)) == []


def test_a_file_has_at_most_50_000_addresses() -> None:
    """Further addresses are not read, and the file is called cut."""
    found = parse_sitemap(f"{SITE}/a\n".encode() * 50_001, URL, max_items=1)
    assert found.counts.read == 50_000
    assert found.is_cut


def test_a_file_has_at_most_50_megabytes() -> None:
    """A gzip bomb is unpacked to 50 MB and no further, and takes no memory for them."""
    bomb = gzip.compress(f"{HEAD}{page(f'{SITE}/a')}".encode() + b" " * MAX_BYTES)
    tracemalloc.start()
    found = parse_sitemap(bomb, URL)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert links(found) == ["/a"]
    assert found.is_cut
    assert most < 4 * 1024 * 1024
    assert sum(map(len, SitemapChunks(bomb))) == MAX_BYTES


def test_a_large_file_takes_memory_only_for_what_is_taken() -> None:
    """Of 20,000 entries that are too old, none is kept."""
    entry = page(f"{SITE}/a-page-with-a-long-name", lastmod="2020-01-01")
    body = (HEAD + entry * 20_000 + "</urlset>").encode()
    tracemalloc.start()
    found = parse_sitemap(body, URL, taken_after=1.7e9)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.counts.too_old == 20_000
    assert most < 4 * 1024 * 1024


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMB = (
    f'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "lol">{LAUGHS}'
    '<!ENTITY file SYSTEM "file:///etc/passwd">]><urlset>'
    f"{page(f'{SITE}/&l9;&file;')}{page(f'{SITE}/b')}</urlset>"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_no_entity_is_expanded(encoding: str) -> None:
    """Entities of a DOCTYPE stay text, so that they neither explode nor read a file."""
    found = parse_sitemap(BOMB.encode(encoding), URL)
    assert links(found) == ["/&l9;&file;", "/b"]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset>" + b"<url>" * 100_000,
        b"<urlset>" + b"<url><loc>" * 50_000,
        b"<urlset><url><loc>" + b"x" * 5_000_000,
        b"<urlset " + b"a" * 5_000_000,
        b"<urlset>" + b"</url>" * 500_000,
    ],
    ids=["deep", "deep fields", "long address", "long attribute", "end tags"],
)
def test_hostile_markup_takes_little_memory(body: bytes) -> None:
    """Deep nesting and long values are neither kept nor an error that ends the caller."""
    tracemalloc.start()
    found = parse_sitemap(body, URL)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.items == ()
    assert most < 4 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-2022-JP", "no-such-encoding"])
def test_names_that_cannot_be_decoded_end_the_file(encoding: str) -> None:
    """A tag with invalid bytes is damage: the entries before it are read, and nothing is raised."""
    body = f'<?xml version="1.0" encoding="{encoding}"?><urlset>{page(f"{SITE}/a")}'.encode()
    for name in (b"<\xff\xfe>", b"<a\xc3>", b"<\xe9 \xe9=\xe9>", b"\x1b$B"):
        assert links(parse_sitemap(body + name + b"</urlset>", URL)) in (["/a"], [])


def test_a_file_with_too_many_elements_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of elements is limited, because it decides how long parsing takes."""
    monkeypatch.setattr(module, "MAX_ELEMENTS", 100)
    found = parsed(page(f"{SITE}/a"), "<x/>" * 200, page(f"{SITE}/b"))
    assert links(found) == ["/a"]
    assert found.is_cut


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-22", "2026-11-22T00:00:00+00:00"),
        (" 2026-11-22T14:05Z ", "2026-11-22T14:05:00+00:00"),
        ("2026-11-22T14:05:09.123456789-05:30", "2026-11-22T19:35:09+00:00"),
        ("2026-11-22 14:05:09 +0100", "2026-11-22T13:05:09+00:00"),
        ("2026-11-22T24:00:00Z", "2026-11-23T00:00:00+00:00"),
        ("2026-11-22T14:05", "2026-11-22T14:05:00+00:00"),
        ("2026-11", None),
        ("2026", None),
        ("2026-13-01", None),
        ("0001-01-01T00:00:00+00:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("2026-11-22T14:05:09+99:99", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_have_the_forms_of_w3c_datetime(text: str, moment: str | None) -> None:
    """Dates with a day are read, in UTC if they have no offset; all other texts have no date."""
    assert read_w3c_date(text) == moment


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(9998, 1, 1)),  # noqa: DTZ001 - the offset is added
    st.integers(-14 * 60, 14 * 60),
)
def test_every_moment_is_read_as_it_was_written(moment: datetime, minutes: int) -> None:
    """A date in the form of RFC 3339 with any offset is read to the second."""
    dated = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    assert modified_time(dated.isoformat()) == dated.timestamp()
    assert latest_time(read_w3c_date(dated.isoformat())) in (
        dated.timestamp(),
        dated.timestamp() + 86_400,
    )


@given(st.binary(max_size=400))
def test_any_bytes_are_a_sitemap_or_an_error(body: bytes) -> None:
    """No bytes make the parser raise anything but WebError, compressed or not."""
    for form in (
        body,
        b"<urlset>" + body,
        gzip.compress(b"<urlset><url>" + body),
        b"\x1f\x8b" + body,
    ):
        try:
            parse_sitemap(form, URL)
        except WebError as error:
            assert error.trouble is Trouble.NOT_A_FEED  # noqa: PT017 - either result is right


PATHS = st.text(st.sampled_from("abc/&;<>='\"%é日?#"), max_size=20)


@given(st.lists(PATHS, max_size=8), st.integers(1, 64))
def test_what_is_written_is_read(paths: list[str], chunk: int) -> None:
    """Every address of a well-formed file is read in order, wherever its chunks are cut."""
    entries = "".join(page(escape(f"{SITE}/{path}")) for path in paths)
    body = f"{HEAD}{entries}</urlset>".encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("urltree.crawl.decisions.source.sitemap_body.CHUNK", chunk)
        small = parse_sitemap(body, URL)
    assert small == parse_sitemap(body, URL)
    assert small.counts.read == len(paths)
    assert len(small.items) == len(paths)


@given(
    st.lists(st.tuples(st.integers(1, 28), st.booleans()), max_size=30),
    st.integers(0, 10),
    st.integers(0, 28),
)
def test_the_limits_agree_with_a_simple_model(
    entries: list[tuple[int, bool]], most: int, after: int
) -> None:
    """The pages that are taken are those of a list that is filtered, sorted by date and cut."""
    time = {
        day: datetime.fromisoformat(f"2026-11-{day:02}T12:00:00Z").timestamp()
        for day in range(1, 29)
    }
    threshold = time.get(after, 0.0)
    body = [
        page(f"{SITE}/{at}", lastmod=f"2026-11-{day:02}T12:00:00Z" if dated else "")
        for at, (day, dated) in enumerate(entries)
    ]
    rows = [
        (time[day] if dated else float("-inf"), -at)
        for at, (day, dated) in enumerate(entries)
        if not dated or time[day] > threshold
    ]
    kept = sorted(sorted(rows, reverse=True)[:most], key=lambda row: -row[1])
    found = parsed(*body, taken_after=threshold, max_items=most)
    assert links(found) == [f"/{-at}" for _, at in kept]
    assert found.counts.beyond_limit == len(rows) - len(kept)
    rest = set(range(len(entries))) - {-at for _, at in kept}
    assert found.left_out == KnownAddresses.of(f"{SITE}/{at}" for at in rest)
