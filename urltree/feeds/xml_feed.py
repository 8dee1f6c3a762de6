"""RSS, Atom, RDF and CDF by feedparser, which finds links in damaged feeds too (issue 4).

Feedparser is given a stream, never text, which it could take for a file's name or an address; it
strips the DOCTYPE, and its SAX parser loads no external entity. It reads 4,000 items a second, of
a damaged feed 1,500: what lies between the last item that counts and the end is cut out before.
"""

from __future__ import annotations

import codecs
import re
from datetime import UTC, datetime
from io import BytesIO
from itertools import islice
from typing import Any

import feedparser

from urltree.feeds import pauses
from urltree.feeds.answer import Trouble, WebError
from urltree.feeds.item import Item
from urltree.feeds.parsed_feed import (
    MAX_DESCRIPTION,
    MAX_TITLE,
    ParsedFeed,
    bounded,
    first_items,
    link,
    stamp,
)

# longer ones first: that of UTF-32 begins with that of UTF-16
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_UTF8 = "application/xml; charset=utf-8"
_PAGE = re.compile(rb"<(?:!doctype\s+)?html[\s>]", re.IGNORECASE)
_ROOT = re.compile(rb"<(?:[\w.-]{1,40}:)?(?:rss|rdf|feed|channel)[\s>]", re.IGNORECASE)
_ITEM = re.compile(rb"<((?:[\w.-]{1,40}:)?(?:item|entry))[\s>]", re.IGNORECASE)
_DATES = ("published_parsed", "created_parsed", "updated_parsed")


def parse(body: bytes, content_type: str | None, url: str, *, max_items: int) -> ParsedFeed:
    """Read an XML feed; see `urltree.feeds.parsing.parse`."""
    body, content_type = _unmarked(body, content_type)
    if _PAGE.search(body, 0, 1_024) and not _ROOT.search(body):
        raise WebError(Trouble.NOT_A_FEED, "an HTML page")
    short = shortened(body, max_items)
    try:
        found = feedparser.parse(
            BytesIO(short),
            response_headers={"content-type": content_type} if content_type else {},
            resolve_relative_uris=False,
            sanitize_html=False,
        )
    except MemoryError:
        raise
    except Exception as error:  # whatever a parser of hostile text may raise
        raise WebError(Trouble.NOT_A_FEED, f"cannot be parsed: {error!r:.200}") from error
    if not found.get("version") and not found["entries"]:
        raise WebError(Trouble.NOT_A_FEED, "no RSS, Atom, RDF, CDF or JSON feed")
    entries, feed = found["entries"], found["feed"]
    items, skipped = first_items(entries, max_items, lambda entry: _item(entry, url))
    return ParsedFeed(
        title=bounded(feed.get("title"), MAX_TITLE),
        items=items,
        ttl=pauses.ttl(feed),
        skip_hours=pauses.skip_hours(short),
        skip_days=pauses.skip_days(short),
        truncated=len(entries) > max_items or len(short) < len(body),
        skipped=skipped,
    )


def _unmarked(body: bytes, content_type: str | None) -> tuple[bytes, str | None]:
    """A body, and the content type that tells its encoding, if any does.

    A byte order mark beats every declaration (RFC 7303, section 3.3). A type without charset
    tells nothing, but makes feedparser read text/xml as ASCII, as RFC 3023 had it.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, errors="replace").encode(), _UTF8
    has_charset = content_type is not None and "charset" in content_type.lower()
    return body, content_type if has_charset else None


def shortened(body: bytes, max_items: int) -> bytes:
    """The body without the items after the first so many; what follows the last one stays.

    Only items named like the first one count. Where such a name stands in a comment or CDATA the
    cut may damage the feed, which feedparser then still reads up to there. UTF-16 without
    a mark stays whole: time limits it.
    """
    first = _ITEM.search(body)
    if first is None:
        return body
    name = re.escape(first[1])
    starts = re.finditer(rb"<" + name + rb"[\s>]", body)
    surplus = next(islice(starts, max_items, None), None)
    if surplus is None:
        return body
    last = body.rfind(b"</" + first[1])
    end = body.find(b">", last) + 1 if last > surplus.start() else len(body)
    return body[: surplus.start()] + body[end or len(body) :]


def _item(entry: Any, url: str) -> Item | None:
    address = _link(entry, url)
    if address is None:
        return None
    return Item(
        link=address,
        title=bounded(entry.get("title"), MAX_TITLE),
        description=bounded(entry.get("summary"), MAX_DESCRIPTION),
        published=_date(entry),
    )


def _link(entry: Any, url: str) -> str | None:
    """The page of an entry.

    feedburner:origLink comes first: the link beside it leads over a counting host, to which the
    politeness of all the sites would be owed. A guid counts only as it stands: most are numbers.
    Feedparser has resolved xml:base; what is still relative is so to the feed.
    """
    origin = link(entry.get("feedburner_origlink"), None)
    if origin is not None:
        return origin
    found = link(entry.get("link"), None if entry.get("guidislink") else url)
    if found is not None:
        return found
    alternates = (each for each in entry.get("links", ()) if each.get("rel") == "alternate")
    return next(filter(None, (link(each.get("href"), url) for each in alternates)), None)


def _date(entry: Any) -> str | None:
    """The first date that can be read: an edit changes `updated`, and is no new item."""
    for name in _DATES:
        parsed = dict.get(entry, name)  # feedparser's own `get` takes one name for another
        if parsed is None:
            continue
        year, month, day, hour, minute, second = parsed[:6]
        try:
            moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
        except ValueError:
            continue
        if (text := stamp(moment)) is not None:
            return text
    return None
