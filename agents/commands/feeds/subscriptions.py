"""Lists of feeds as files: OPML, which every reader of feeds writes, lines of JSON, or addresses.

    OPML     nested outlines and `category` become the meta string `feed.categories`, as
             "News/Tech,Fun": levels by "/", lists by ","
    JSON     {"feed": …, "site": …, "title": …, "meta": {…}} a line: nothing is lost
    plain    an address a line; "#" begins a comment

`listparser` gets bytes: it would fetch what looks like a URL. It reads XML as HTML, so that no
entity is expanded and no other file opened (tests/agents/test_opml.py).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import listparser
import orjson
from lxml import etree

from models.feed import Feed
from urltree.html.encoding import decode_html
from urltree.html.parser import parse_html
from urltree.page import PageError

CATEGORIES = "feed.categories"
MAX_FILE_BYTES = 32 * 1024 * 1024

_MAX_CATEGORIES = 1_000  # characters: meta has a limit
_MAX_LEVELS = 10  # of a category
_MAX_DEPTH = 2_000  # of a file: 20,000 levels with 20,000 feeds took 3 GB (measured)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, "Char"


class Entry(NamedTuple):
    """A feed as a file names it.

    Attributes:
        address: as it stands there.
        refused: why it cannot be followed, whatever its address is.
    """

    address: str
    title: str | None = None
    site: str | None = None
    meta: Mapping[str, str] = {}
    refused: str | None = None


def read(content: bytes) -> Iterator[Entry]:
    """The feeds that a file names, in whichever of the three forms it is."""
    text = decode_html(content)
    if text.lstrip().startswith("<"):
        yield from _read_opml(text)
        return
    for line in map(str.strip, text.splitlines()):
        if line.startswith("{"):
            yield _read_json(line)
        elif line and not line.startswith("#"):
            yield Entry(line)


def write_opml(feeds: Iterable[Feed]) -> bytes:
    """OPML 2.0, in the order of feeds; sites and other meta strings are left out."""
    root = etree.Element("opml", version="2.0")
    etree.SubElement(etree.SubElement(root, "head"), "title").text = "Feeds"
    body = etree.SubElement(root, "body")
    for feed in feeds:
        outline = {"type": "rss", "text": feed.title or feed.url, "xmlUrl": feed.url}
        if CATEGORIES in feed.meta:
            outline["category"] = feed.meta[CATEGORIES]
        etree.SubElement(body, "outline", {k: _NOT_XML.sub("", v) for k, v in outline.items()})
    written: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True)
    return written


def write_json(feeds: Iterable[Feed]) -> bytes:
    """A line a feed."""
    return b"".join(
        orjson.dumps(
            {"feed": f.url, "site": f.site, "title": f.title, "meta": dict(f.meta)},
            option=orjson.OPT_APPEND_NEWLINE,
        )
        for f in feeds
    )


def _read_opml(text: str) -> Iterator[Entry]:
    utf8 = text.encode(errors="replace")
    try:
        depth = parse_html(utf8, _Depth())
    except PageError as error:
        yield Entry("the file", refused=error.message)
        return
    if depth > _MAX_DEPTH:
        yield Entry("the file", refused=f"nests {depth:,} levels, more than {_MAX_DEPTH}")
        return
    # with a byte order mark the parser needs no declaration, which may be wrong by now
    found = listparser.parse(codecs.BOM_UTF8 + utf8)
    for feed in found.feeds:
        title = " ".join(feed.title.split())
        categories = _categories(feed.get("categories", ()))
        yield Entry(
            feed.url,
            title if title and title != feed.url else None,
            meta={CATEGORIES: categories} if categories else {},
        )
    for other in found.lists:
        yield Entry(other.url, refused="is a list of feeds: import it itself")


class _Depth:
    """Counts how deep a list nests: listparser notes the whole path of every feed."""

    def __init__(self) -> None:
        self._depth = self._deepest = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)

    def end(self, tag: str) -> None:  # noqa: ARG002
        self._depth -= 1

    def data(self, text: str) -> None:
        pass

    def close(self) -> int:
        return self._deepest


def _categories(paths: Iterable[Sequence[str]]) -> str:
    """As OPML 2.0 writes them, as many as there is room for."""
    kept: list[str] = []
    for path in paths:
        levels = (" ".join(re.split(r"[\s/,]+", level)).strip() for level in path[:_MAX_LEVELS])
        written = "/".join(level for level in levels if level)
        if written and len(",".join([*kept, written])) <= _MAX_CATEGORIES and written not in kept:
            kept.append(written)
    return ",".join(kept)


def _read_json(line: str) -> Entry:
    try:
        fields: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return Entry(line, refused="is no JSON")
    feed, site, title = (fields.get(name) for name in ("feed", "site", "title"))
    meta = fields.get("meta") or {}
    are_texts = all(text is None or isinstance(text, str) for text in (site, title))
    if not isinstance(feed, str) or not are_texts or not isinstance(meta, dict):
        return Entry(line, refused="should have a feed, and may have a site, a title, a meta")
    return Entry(feed, title, site, meta)
