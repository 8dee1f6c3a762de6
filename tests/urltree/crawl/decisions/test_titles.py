"""Titles become plain text in one line, whether they are text, HTML, or HTML escaped twice."""

from __future__ import annotations

import pytest

from tests.urltree.crawl.decisions.feeds import atom, json, parsed, rss
from urltree.crawl.decisions.feed.parsed_feed import MAX_TITLE, plain_title

XHTML = "<div xmlns='http://www.w3.org/1999/xhtml'>a &lt; <b>b</b></div>"
RSS_TITLES = {
    "AT&amp;amp;T": "AT&T",
    "AT&amp;T": "AT&T",
    "AT&amp;amp;amp;T": "AT&T",
    "&lt;b&gt;New&lt;/b&gt;": "New",
    "&lt;B CLASS='a'&gt;New&lt;/B&gt; &lt;em&gt;and&lt;/em&gt; old": "New and old",
    "&amp;lt;b&amp;gt;New&amp;lt;/b&amp;gt;": "New",
    "<![CDATA[<b>New</b> &amp; old]]>": "New & old",
    "<![CDATA[It&#8217;s &ldquo;new&rdquo;]]>": "It\u2019s \u201cnew\u201d",
    "One\n  two\r\n\tthree&#160;four": "One two three four",
    "One&lt;br/&gt;two&lt;p&gt;three": "One two three",
    "a < b".replace("<", "&lt;"): "a < b",
    "a &amp;lt; b": "a < b",
    "a &lt;b and c&gt; d": "a <b and c> d",
    "<![CDATA[1 < 2 > 0]]>": "1 < 2 > 0",
    "vector&lt;int&gt; and List&lt;String&gt;": "vector<int> and List<String>",
    "The &amp;lt;br&amp;gt; element": "The <br> element",
    "Save &pound;5": "Save £5",
    "Find /?a=1&amp;copy=2": "Find /?a=1&copy=2",
    "I &lt;3 you": "I <3 you",
    "&lt;img src='/a.png' alt='x'&gt;": None,
    "&#xD800;": "\ufffd",
    " ": None,
}


@pytest.mark.parametrize(("title", "text"), RSS_TITLES.items())
def test_a_title_of_rss_is_plain_text(title: str, text: str | None) -> None:
    """Tags of HTML are removed and references are resolved; other angle brackets are text."""
    found = parsed(rss(f"<link>/1</link><title>{title}</title>"))
    assert found.items[0].title == text


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("<title>AT&amp;T &amp;amp; a &lt; b &lt;b&gt;</title>", "AT&T &amp; a < b <b>"),
        ("<title type='text'>&lt;b&gt; is\nbold</title>", "<b> is bold"),
        ("<title type='html'>AT&amp;amp;T &lt;b&gt;New&lt;/b&gt;</title>", "AT&T New"),
        ("<title type='html'><![CDATA[a &lt; b]]></title>", "a < b"),
        (f"<title type='xhtml'>{XHTML}</title>", "a < b"),
    ],
)
def test_a_title_of_atom_has_a_type(title: str, text: str) -> None:
    """In Atom only titles of type html and xhtml have markup (RFC 4287, section 3.1.1)."""
    assert parsed(atom(f'<link href="/1"/>{title}')).items[0].title == text


def test_a_title_of_json_is_text() -> None:
    """A title of a JSON Feed is plain text, which only gets into one line."""
    title = "a < b &amp; <b>c</b>\n d"
    found = parsed(json({"url": "/1", "title": title}, {"url": "/2", "title": ["x"]}))
    assert [item.title for item in found.items] == ["a < b &amp; <b>c</b> d", None]


def test_the_title_of_a_feed_is_plain_text() -> None:
    """The title of the feed itself has no markup either."""
    body = rss().replace("<title>News", "<title>News &amp;amp;\n &lt;i&gt;more&lt;/i&gt;")
    assert parsed(body).title == "News & more"


@pytest.mark.parametrize(
    "piece", ["<b ", "<b a=", "<b a='", "<b>", "&", "&amp;", "&#", " ", "<b a=b "]
)
def test_a_hostile_title_is_short(piece: str) -> None:
    """A title of 10 MB is cut before it is read."""
    assert len(plain_title(piece * 1_000_000, is_html=True) or "") <= MAX_TITLE
