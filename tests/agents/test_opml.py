"""Lists of feeds are read in every format and written without loss; hostile ones do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from agents.commands.feeds.exchange import import_command
from agents.commands.feeds.subscriptions import (
    CATEGORIES,
    MAX_FILE_BYTES,
    Entry,
    read_feed_list,
    write_json,
    write_opml,
)
from models.crawl.feed import Feed

URL = "https://example.org/feed"


def opml(body: str, before: str = '<?xml version="1.0" encoding="UTF-8"?>') -> str:
    """Return an OPML list with this body."""
    return f'{before}<opml version="2.0"><head><title>T</title></head><body>{body}</body></opml>'


def entries(text: str) -> list[Entry]:
    """Return the entries of a list of feeds."""
    return list(read_feed_list(text.encode()))


def as_feeds(content: bytes) -> list[Feed]:
    """Return the entries of a list as feeds; the default of their site is example.org."""
    return [
        Feed(site=e.site or "example.org", url=e.address, title=e.title, meta=e.meta)
        for e in read_feed_list(content)
    ]


def test_outlines_are_feeds_however_deep_they_lie() -> None:
    """Outlines at any depth are feeds; the title of a feed is `text`, or else `title`.

    Groups and categories become one string of metadata.
    """
    text = opml(f"""
        <outline text="News"><outline text="Tech, and/or more">
          <outline type="rss" text=" One\ntwo " title="No" xmlUrl=" {URL} " category="/A/B,C"/>
        </outline></outline>
        <outline title="Two" xmlUrl="http://example.org/2" htmlUrl="http://example.org/"/>
        <outline xmlUrl="http://example.org/3"/>
        <outline text="no feed at all"/>""")
    assert entries(text) == [
        Entry(URL, "One two", meta={CATEGORIES: "A/B,C,News/Tech and or more"}),
        Entry("http://example.org/2", "Two"),
        Entry("http://example.org/3"),
    ]


def test_a_feed_in_two_groups_is_one_feed() -> None:
    """A feed that a list contains twice, in two groups, is returned once with both groups."""
    outline = f'<outline text="{{}}"><outline text="x" xmlUrl="{URL}"/></outline>'
    text = opml(outline.format("A") + outline.format("B"))
    assert entries(text) == [Entry(URL, "x", meta={CATEGORIES: "A,B"})]


def test_a_list_of_lists_is_refused_and_not_followed() -> None:
    """A link to another list is not followed, but returned as an entry with an error."""
    (entry,) = entries(opml('<outline type="include" text="x" url="http://example.org/o.opml"/>'))
    assert entry.address == "http://example.org/o.opml"
    assert entry.refused == "is another list of feeds; import it separately"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
def test_titles_are_read_in_the_encoding_of_the_file(codec: str) -> None:
    """Titles are decoded correctly by the file's XML declaration or its byte order mark."""
    name = codec.removesuffix("-sig")
    text = opml(
        f'<outline text="Größe" xmlUrl="{URL}"/>', f'<?xml version="1.0" encoding="{name}"?>'
    )
    assert list(read_feed_list(text.encode(codec))) == [Entry(URL, "Größe")]


def test_a_list_opens_no_file_and_expands_no_entity(tmp_path: Path) -> None:
    """Reading a list expands no entity, and opens no file of an external entity or DTD."""
    secret = tmp_path / "secret.dtd"
    secret.write_text('<!ENTITY x "SECRET">')
    doctype = f"""<?xml version="1.0"?><!DOCTYPE opml SYSTEM "{secret.as_uri()}" [
        <!ENTITY % p SYSTEM "{secret.as_uri()}"> %p;
        <!ENTITY a "EXPANDED"><!ENTITY f SYSTEM "{secret.as_uri()}">]>"""
    text = opml(f'<outline text="&a;&f;&x;" xmlUrl="{URL}?&a;"/>', doctype)
    (entry,) = entries(text)
    assert "SECRET" not in str(entry)
    assert "EXPANDED" not in str(entry)


def test_entities_of_entities_stay_small() -> None:
    """Nested entities of a list (a "billion laughs" attack) are not expanded."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    doctype = f'<?xml version="1.0"?><!DOCTYPE opml [<!ENTITY l0 "ha">{levels}]>'
    (entry,) = entries(opml(f'<outline text="&l11;" xmlUrl="{URL}"/>', doctype))
    assert len(entry.title or "") < 100


def test_a_list_of_a_thousand_levels_has_a_bounded_category() -> None:
    """A feed's category has a maximum length, because a feed's metadata has a maximum size."""
    deep = '<outline text="level">' * 1_000 + f'<outline xmlUrl="{URL}"/>' + "</outline>" * 1_000
    assert entries(opml(deep)) == [Entry(URL, meta={CATEGORIES: "/".join(["level"] * 10)})]
    wide = f'<outline xmlUrl="{URL}" category="{",".join(f"category {n}" for n in range(1_000))}"/>'
    assert len(entries(opml(wide))[0].meta[CATEGORIES]) <= 1_000


@pytest.mark.parametrize(
    "body", ['<outline text="a">' * 3_000, '<outline xmlUrl="http://example.org/">' * 600_001]
)
def test_a_list_that_would_exhaust_memory_is_refused_as_a_whole(body: str) -> None:
    """A list with too many levels or feeds is refused; the error contains the limit."""
    (entry,) = entries(opml(body))
    assert entry.address == "the file"
    assert "more than" in (entry.refused or "")


def test_a_list_that_is_too_long_is_wrong_use() -> None:
    """`feeds import` refuses a file above the maximum size with exit code 2 and names the size."""
    done = CliRunner().invoke(import_command, ["-"], input=b"#" * (MAX_FILE_BYTES + 1))
    assert done.exit_code == 2
    assert "more than 33,554,432 bytes" in done.stderr


@pytest.mark.parametrize("text", ["", "<", "<opml", "<html><body>x", "\0\0\0", "# only\n\n"])
def test_what_is_no_list_has_no_feeds_or_lines_that_are_refused_later(text: str) -> None:
    """Reading a file that is not a list of feeds raises no error and finds no URL."""
    assert [entry for entry in entries(text) if "://" in entry.address] == []


def test_lines_are_addresses_and_comments() -> None:
    """A text file is a list with one address per line; comments and empty lines are ignored."""
    assert entries(f"# mine\r\n\r\n {URL} \nexample.org\n") == [Entry(URL), Entry("example.org")]


def test_lines_of_json_that_are_wrong_are_refused_one_by_one() -> None:
    """Invalid lines of a JSON list are refused one by one, and the other lines are read."""
    text = '{"feed": 1}\n{"feed"\n{"feed": "example.org", "meta": []}\n{"meta": {}}'
    assert [bool(entry.refused) for entry in entries(text)] == [True, True, False, True]


FEEDS = [
    Feed(site="example.org", url=URL),
    Feed(site="example.org", url="http://example.org/?a=1&b=%3C2%3E'", title="Ünï <b>&amp;\"'"),
    Feed(site="example.org", url="https://xn--bcher-kva.example/日", title="日本 ] ]> 🚀"),
    Feed(site="example.org", url=f"{URL}2", title="x", meta={CATEGORIES: "News/Tech,Größe & Co"}),
]


def test_a_list_that_was_written_is_read_as_it_was() -> None:
    """Writing and reading OPML keeps URLs, titles and categories, even with special characters."""
    assert as_feeds(write_opml(FEEDS)) == FEEDS


def test_lines_of_json_lose_nothing() -> None:
    """Writing and reading JSON lines keeps every field, even sites that the user has set."""
    feeds = [*FEEDS, Feed(site="other.example", url=URL, title="a\nb", meta={"k": "v", "l": ""})]
    assert as_feeds(write_json(feeds)) == feeds


def test_opml_is_xml_whatever_a_title_holds() -> None:
    """A written OPML file is valid XML: characters that XML cannot contain are left out."""
    feed = Feed(site="example.org", url=URL, title="a\x00\x1b[2J\ud800b￿")
    root = etree.fromstring(write_opml([feed]))
    assert root.get("version") == "2.0"
    (outline,) = root.iter("outline")
    said = {name: outline.get(name) for name in outline.keys()}  # noqa: SIM118 - an element is not a dict
    assert said == {"type": "rss", "text": "a[2Jb", "xmlUrl": URL}
