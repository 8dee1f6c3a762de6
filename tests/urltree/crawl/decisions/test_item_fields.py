"""The guid, the content, the description and the link of items in all formats."""

from __future__ import annotations

import pytest

from tests.urltree.crawl.decisions.feeds import atom, json, parsed, rss
from urltree.crawl.decisions.feed import parsed_feed
from urltree.crawl.decisions.feed.parsed_feed import MAX_CONTENT, MAX_GUID

SPACES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
MEDIA = "<media:description>m</media:description>"
XHTML = "<div xmlns='http://www.w3.org/1999/xhtml'><p>a &lt; b</p></div>"


def guid_of(body: str | bytes) -> str | None:
    """Return the guid of the only item."""
    (item,) = parsed(body).items
    return item.guid


def content_of(body: str | bytes) -> str | None:
    """Return the content of the only item."""
    (item,) = parsed(body, with_content=True).items
    return item.content


@pytest.mark.parametrize(
    ("guid", "text"),
    [
        ("<guid> 4711\n</guid>", "4711"),
        ('<guid isPermaLink="false">tag:a.org,2024:1</guid>', "tag:a.org,2024:1"),
        ("<guid>https://news.example.org/1</guid>", "https://news.example.org/1"),
        ("<guid><![CDATA[a&b]]></guid>", "a&b"),
        ("<guid>a&amp;b</guid>", "a&b"),
        ("<guid>https://u:p@a.org/1</guid>", "https://a.org/1"),
        ("<guid>someone@a.org</guid>", "someone@a.org"),
        ("<guid>&#xD800;</guid>", "\ufffd"),
        (f"<guid>{'x' * MAX_GUID}</guid>", "x" * MAX_GUID),
        (f"<guid>{'x' * (MAX_GUID + 1)}</guid>", None),
        ("<guid/>", None),
        ("", None),
    ],
)
def test_a_guid_is_a_text(guid: str, text: str | None) -> None:
    """A guid is kept as text, also if it is no URL. One that is too long is dropped, not cut."""
    assert guid_of(rss(f"<link>/1</link>{guid}")) == text


def test_every_format_has_guids() -> None:
    """Atom calls the guid id, RDF rdf:about, and JSON Feed id; some JSON feeds write a number."""
    assert guid_of(atom('<link href="/1"/><id>urn:1</id>')) == "urn:1"
    assert guid_of(json({"url": "/1", "id": " 1 "})) == "1"
    assert guid_of(json({"url": "/1", "id": 4711})) == "4711"
    assert guid_of(json({"url": "/1", "id": True})) is None
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/'
        'rss/1.0/"><item rdf:about="urn:1"><link>https://a.org/1</link></item></rdf:RDF>'
    )
    assert guid_of(rdf) == "urn:1"


def test_a_number_does_not_become_an_address() -> None:
    """Feedparser resolves a guid against xml:base: "1" of two feeds would look like one page."""
    base = 'xml:base="https://news.example.org/"'
    assert guid_of(rss("<link>/1</link><guid>1</guid>", attributes=base)) is None
    assert guid_of(atom('<link href="/1"/><id>1</id>', attributes=base)) is None
    assert guid_of(atom('<link href="/1"/><id>urn:1</id>', attributes=base)) == "urn:1"
    written = "<link>/1</link><guid>https://a.org/1?b&amp;c</guid>"
    assert guid_of(rss(written, attributes=base)) == "https://a.org/1?b&c"


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (
            rss(
                "<link>/1</link><description>short</description>"
                "<content:encoded><![CDATA[<p>a &amp; b</p>]]></content:encoded>",
                attributes=SPACES,
            ),
            "<p>a &amp; b</p>",
        ),
        (atom('<link href="/1"/><content type="html">&lt;p&gt;a</content>'), "<p>a"),
        (
            atom(f'<link href="/1"/><content type="xhtml">{XHTML}</content>'),
            "<p>a &lt; b</p>",
        ),
        (
            atom('<link href="/1"/><content>a &lt; b\nc\n\nd</content>'),
            "<p>a &lt; b<br>c</p><p>d</p>",
        ),
        (atom('<link href="/1"/><content type="image/png">aGk=</content>'), None),
        (atom('<link href="/1"/><content src="/1.html" type="text/html"/>'), None),
        (atom('<link href="/1"/><summary>short</summary>'), None),
        (rss("<link>/1</link><description>short</description>"), None),
        (
            rss(
                "<link>/1</link><description>short</description>"
                "<dc:description>other</dc:description>",
                attributes=SPACES,
            ),
            None,
        ),
        (json({"url": "/1", "content_html": "<p>a", "content_text": "b"}), "<p>a"),
        (json({"url": "/1", "content_text": "a < b\n\nc"}), "<p>a &lt; b</p><p>c</p>"),
        (json({"url": "/1", "summary": "short"}), None),
        (json({"url": "/1", "content_html": 5}), None),
    ],
)
def test_the_content_is_html(body: str | bytes, content: str | None) -> None:
    """The whole text of an item is HTML in every format; a description is not the whole text."""
    assert content_of(body) == content
    assert parsed(body).items[0].content is None


@pytest.mark.parametrize(
    ("length", "is_kept"), [(MAX_CONTENT // 2, True), (MAX_CONTENT // 2 + 1, False)]
)
def test_a_large_content_is_not_kept(length: int, is_kept: bool) -> None:
    """A content larger than 1 MB is None and not cut: half an article is worse than none."""
    text = "é" * length
    for body in (
        json({"url": "/1", "content_html": text}),
        atom(f'<link href="/1"/><content type="html">{text}</content>'),
    ):
        assert content_of(body) == (text if is_kept else None)


def test_the_contents_of_a_feed_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contents of all items together are limited, because the process returns all at once."""
    monkeypatch.setattr(parsed_feed, "MAX_CONTENTS", 10)
    found = parsed(
        json(*({"url": f"/{n}", "content_html": "12345"} for n in range(3))), with_content=True
    )
    assert [item.content for item in found.items] == ["12345", "12345", None]


@pytest.mark.parametrize(
    ("item", "description"),
    [
        (f"<media:group>{MEDIA}</media:group><description>d</description>", "d"),
        (f"{MEDIA}<content:encoded>c</content:encoded><description>d</description>", "d"),
        ("<media:description>m</media:description><description>d</description>", "d"),
        ("<description>d</description><media:description>m</media:description>", "d"),
        ("<media:description type='plain'>m</media:description><description>d</description>", "d"),
        ("<media:group><media:description>m</media:description></media:group>", "m"),
        ("<media:description>m</media:description><description/>", "m"),
        ("<media:description/><description>d</description>", "d"),
    ],
)
def test_a_description_is_preferred_to_that_of_an_image(item: str, description: str) -> None:
    """`media:description` describes an image or a film; it is used only without `description`."""
    for body in (rss(f"<link>/1</link>{item}", attributes=SPACES),):
        assert parsed(body).items[0].description == description


@pytest.mark.parametrize(
    "link",
    [
        "https://user:secret@a.org/1?b#c",
        "https://secret@a.org/1?b#c",
        "https://:secret@a.org/1?b#c",
        "https://us%40er:secret@a.org/1?b#c",
    ],
)
def test_an_address_has_no_credentials(link: str) -> None:
    """User name and password are removed from links, so that they are neither sent nor stored."""
    for body in (
        rss(f"<link>{link}</link>"),
        rss(f"<guid>{link}</guid>"),
        atom(f'<link href="{link}"/><id>{link}</id>'),
        json({"url": link, "id": link}),
        json({"id": link}),
    ):
        (item,) = parsed(body).items
        assert item.link == "https://a.org/1?b#c"
        assert "secret" not in repr(item)


def test_an_at_sign_in_a_path_is_kept() -> None:
    """An at sign behind the host is part of the path."""
    assert parsed(rss("<link>https://a.org/@b:c@d</link>")).items[0].link == "https://a.org/@b:c@d"
