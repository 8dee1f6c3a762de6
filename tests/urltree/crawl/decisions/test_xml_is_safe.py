"""Parsing the XML of a feed opens no file, loads no external entity, and uses no network."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import feedparser
import pytest

from tests.urltree.crawl.decisions.feeds import RSS_ITEM, parsed
from urltree.crawl.decisions.feed.parsing import parse_feed
from urltree.crawl.decisions.response import WebError

INSIDE = "what stands in a file"


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Yield a listening socket on loopback, which shows whether a client has connected."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        yield listening


@pytest.fixture
def address(server: socket.socket) -> str:
    """Return the URL of the listening socket."""
    return f"http://127.0.0.1:{server.getsockname()[1]}/"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return the path of a file that contains a feed and that the parser may not open."""
    path = tmp_path / "secret.xml"
    path.write_text(f"<rss><channel><title>{INSIDE}</title></channel></rss>")
    return path


def somebody_came(server: socket.socket) -> bool:
    """Return whether a client has connected to the listening socket."""
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def feed(prologue: str, title: str = "t", inside: str = "") -> str:
    """Return an RSS feed with a text before its first element."""
    return (
        f'<?xml version="1.0"?>{prologue}<rss version="2.0"><channel><title>{title}</title>'
        f"{inside}{RSS_ITEM}</channel></rss>"
    )


# Feedparser drops declarations before the first element. It mistakes the tag in this processing
# instruction for the first element. So it keeps the declarations after the instruction, and expat
# parses these declarations.
HIDING = "<?hide <a?>"
ENTITY = '<!DOCTYPE rss [<!ENTITY e SYSTEM "{}">]>'
ATTACKS = {
    "external entity": feed(ENTITY, "&e;"),
    "hidden external entity": feed(HIDING + ENTITY, "&e;"),
    "public external entity": feed('<!DOCTYPE rss [<!ENTITY e PUBLIC "x" "{}">]>', "&e;"),
    "parameter entity": feed('<!DOCTYPE rss [<!ENTITY % p SYSTEM "{}"> %p;]>'),
    "hidden parameter entity": feed(HIDING + '<!DOCTYPE rss [<!ENTITY % p SYSTEM "{}"> %p;]>'),
    "DTD": feed('<!DOCTYPE rss SYSTEM "{}">'),
    "hidden DTD": feed(HIDING + '<!DOCTYPE rss SYSTEM "{}">'),
    "XInclude": feed(
        "", inside='<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="{}" parse="text"/>'
    ),
    "style sheet": feed('<?xml-stylesheet type="text/xsl" href="{}"?>'),
    "schema": feed("", inside='<a xmlns:s="http://www.w3.org/2001/XMLSchema-instance" '
                   's:schemaLocation="{0} {0}"/>'),
    "content by its address": feed("", inside='<item><content src="{}"/></item>'),
    "base and image": feed("", inside='<image xml:base="{0}"><url>{0}</url></image>'),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nothing_is_read_from_a_file_or_a_server(
    attack: str, server: socket.socket, address: str, secret: Path
) -> None:
    """No attack makes the parser open a file or a connection; the feed itself is parsed."""
    for target in (secret.as_uri(), str(secret), address):
        found = parsed(attack.replace("{}", target).replace("{0}", target))
        assert [item.link for item in found.items] == ["https://news.example.org/1"]
        assert INSIDE not in repr(found)
    assert not somebody_came(server)


def test_a_body_is_no_name_of_a_file_or_a_server(
    server: socket.socket, address: str, secret: Path
) -> None:
    """A body that is a file name or a URL is not opened.

    Feedparser opens such names if it is called with text, as the first assertion shows.
    """
    assert feedparser.parse(str(secret)).feed.title == INSIDE
    for body in (str(secret), secret.as_uri(), address, "/etc/passwd", f"feed:{address}"):
        with pytest.raises(WebError):
            parsed(body)
    assert not somebody_came(server)


def test_an_address_of_a_feed_or_its_charset_is_not_opened(
    server: socket.socket, address: str, secret: Path
) -> None:
    """Neither the URL nor the charset of a response makes the parser open anything."""
    body = feed("").encode()
    assert parse_feed(body, f"text/xml; charset={secret}", address, max_items=9).title == "t"
    assert parse_feed(body, f'text/xml; charset="{address}"', str(secret), max_items=9).title == "t"
    assert not somebody_came(server)


def laughs(levels: int, hidden: str) -> str:
    """Return a feed with nested entities, each of which contains the next lower one ten times."""
    entities = "".join(
        f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, levels)
    )
    return feed(f'{hidden}<!DOCTYPE rss [<!ENTITY l0 "lol">{entities}]>', f"&l{levels - 1};")


def blowup(hidden: str) -> str:
    """Return a feed that uses one entity of 10 KB 10,000 times."""
    return feed(f'{hidden}<!DOCTYPE rss [<!ENTITY a "{"a" * 10_000}">]>', "&a;" * 10_000)


@pytest.mark.parametrize("bomb", [laughs(10, HIDING), blowup(""), blowup(HIDING)])
def test_entities_do_not_explode(bomb: str) -> None:
    """A "billion laughs" or "quadratic blow-up" attack gives a short title in a limited time."""
    started = time.process_time()
    found = parsed(bomb)
    assert [item.link for item in found.items] == ["https://news.example.org/1"]
    assert len(found.title or "") < 5_000
    assert time.process_time() - started < 60  # it takes 1.4 s; the expansion would take hours


def test_harmless_entities_of_a_feed_are_resolved() -> None:
    """Entities that a feed declares in its DOCTYPE for single characters are resolved."""
    found = parsed(feed('<!DOCTYPE rss [<!ENTITY copy "&#169;">]>', "&copy; 2024"))
    assert found.title == "\u00a9 2024"


TITLE = "Füße, 日本"
ENCODED = feed("", TITLE)


@pytest.mark.parametrize("content_type", [None, "text/xml", "application/rss+xml", "text/html"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_a_feed_is_read_in_its_encoding(encoding: str, content_type: str | None) -> None:
    """A feed is decoded correctly with or without a byte order mark, for any media type."""
    assert parsed(ENCODED.encode(encoding), content_type).title == TITLE


@pytest.mark.parametrize(
    ("encoding", "charset"),
    [
        ("utf-8", "us-ascii"),
        ("utf-8", "utf-16"),
        ("utf-8", "nonsense"),
        ("utf-8", "utf-\0"),
        ("utf-8-sig", "iso-8859-1"),
        ("utf-16", "utf-8"),
        ("utf-8", ""),
        ("utf-8", '"utf-8"'),
        ("utf-8", "base64"),
    ],
)
def test_a_wrong_charset_does_no_harm(encoding: str, charset: str) -> None:
    """A wrong charset in the header does no harm.

    A byte order mark takes precedence over it, and if decoding fails, another encoding is used.
    """
    assert parsed(ENCODED.encode(encoding), f"text/xml; charset={charset}").title == TITLE


@pytest.mark.parametrize("padding", ["", " "])
def test_a_declaration_of_utf_16_in_utf_8_does_no_harm(padding: str) -> None:
    """A feed in UTF-8 is read correctly even if it declares UTF-16.

    Any even number of bytes could be decoded as UTF-16.
    """
    body = ENCODED.replace('"1.0"', '"1.0" encoding="utf-16"') + padding
    assert parsed(body, "text/xml").title == TITLE


def test_utf_7_hides_no_entity(secret: Path) -> None:
    """An external entity in UTF-7 is not loaded: text is decoded before entities are removed."""
    hidden = feed(ENTITY.replace("{}", secret.as_uri()), "&e;").encode("utf-7")
    for content_type in ("text/xml; charset=utf-7", "text/xml", None):
        assert INSIDE not in repr(parsed(hidden, content_type))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the test needs /proc/self/fd")
def test_no_file_stays_open(secret: Path) -> None:
    """Parsing the attacks leaves no file open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for attack in ATTACKS.values():
        parsed(attack.replace("{}", secret.as_uri()).replace("{0}", secret.as_uri()))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
