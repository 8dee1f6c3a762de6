"""Files with lists of feeds: OPML as feed readers write it, JSON Lines, or one URL per line.

    OPML     nested outlines and `category` become the meta string `feed.categories`, such as
             "News/Tech,Fun": "/" separates levels, "," separates categories
    JSON     {"feed": …, "site": …, "title": …, "meta": {…}} per line, and the options of the
             source with the names of the topic `feeds`; contains all fields
    plain    one URL per line; "#" begins a comment

`listparser` gets bytes, because it would request a string that looks like a URL. The parser reads
XML as HTML, so it expands no entity and opens no other file (tests/agents/test_opml.py).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import listparser
import orjson
from lxml import etree

from agents.commands.feeds.options import OPTION_FIELDS, option_fields
from models.crawl.feed import Feed
from urltree.html.encoding import decode_html
from urltree.html.parser import parse_html
from urltree.page import PageError

CATEGORIES = "feed.categories"
MAX_FILE_BYTES = 32 * 1024 * 1024

_MAX_CATEGORIES = 1_000  # maximum total length in characters, because the size of meta is limited
_MAX_LEVELS = 10  # largest number of levels of a category
_MAX_DEPTH = 2_000  # maximum depth of outlines; 20,000 levels with 20,000 feeds took 3 GB of memory
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, "Char"


class Entry(NamedTuple):
    """Feed as a file names it.

    Attributes:
        address: URL of the feed, as written in the file.
        title: Title of the feed, or None.
        site: Site of the feed, or None for the registrable domain of the URL.
        meta: Texts that are copied to the pages of the feed.
        refused: Reason why the feed cannot be followed, or None.
        options: Options of the source, as fields of the record of the topic `feeds`.
    """

    address: str
    title: str | None = None
    site: str | None = None
    meta: Mapping[str, str] = {}
    refused: str | None = None
    options: Mapping[str, Any] = {}


def read_feed_list(content: bytes) -> Iterator[Entry]:
    """Yield the feeds of a file in any of the three formats."""
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
    """Return feeds as OPML 2.0 in the given order.

    OPML has no place for sites, options and most meta strings.
    """
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
    """Return feeds as JSON Lines."""
    return b"".join(
        orjson.dumps(
            {
                "feed": f.url,
                "site": f.site,
                "title": f.title,
                "meta": dict(f.meta),
                **option_fields(f),
            },
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
        yield Entry("the file", refused=f"has {depth:,} nested levels, more than {_MAX_DEPTH:,}")
        return
    # With a byte order mark the parser ignores the encoding of the XML declaration, which is wrong
    # now that the text is UTF-8.
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
        yield Entry(other.url, refused="is another list of feeds; import it separately")


class _Depth:
    """Parser target that measures nesting. Deep nesting costs memory in listparser."""

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
    """Return categories in the format of OPML 2.0, as many as fit into `_MAX_CATEGORIES`."""
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
        return Entry(line, refused="is not valid JSON")
    feed, site, title = (fields.get(name) for name in ("feed", "site", "title"))
    meta = fields.get("meta") or {}
    are_texts = all(text is None or isinstance(text, str) for text in (site, title))
    if not isinstance(feed, str) or not are_texts or not isinstance(meta, dict):
        return Entry(
            line, refused="should have the text feed, and may have site, title and the object meta"
        )
    options = {name: value for name, value in fields.items() if name in OPTION_FIELDS}
    return Entry(feed, title, site, meta, options=options)
