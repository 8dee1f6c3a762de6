"""Select items of an XML feed in its bytes, because feedparser reads only 4,000 items per second.

    head │ item │ item │ item │ … │ item │ tail      too many: the newest ones are kept
    head │ item │ item │ it                          cut: the last one is removed

Only elements with the same tag as the first item are counted. If this tag occurs in a comment or
CDATA section, the result may be damaged; feedparser still reads the items around the damage. A body
in UTF-16 without a byte order mark is not changed; only the parser's time limit applies to it.
"""

from __future__ import annotations

import re

from urltree.crawl.decisions.feed.dates import MAX_DATE, read_dates
from urltree.crawl.decisions.feed.parsed_feed import select_newest

_ITEM = re.compile(rb"<((?:[\w.-]{1,40}:)?(?:item|entry))[\s>]", re.IGNORECASE)
_CONTAINER = re.compile(rb"<(/?)((?:[\w.-]{1,40}:)?(?:rss|rdf|feed|channel))[\s>]", re.IGNORECASE)
_HEAD = 64 * 1024  # bytes in which the elements around the items are found; they come first
_VALUE = rb"(?:\s[^<>]{0,200})?>\s*(?:<!\[CDATA\[)?([^<>\]]{6,%d})" % MAX_DATE
_PUBLISHED = re.compile(
    rb"<(?:[\w.-]{1,40}:)?(?:pubdate|published|issued|created)" + _VALUE, re.IGNORECASE
)
_UPDATED = re.compile(rb"<(?:[\w.-]{1,40}:)?(?:updated|modified|date)" + _VALUE, re.IGNORECASE)


def keep_newest_items(body: bytes, max_items: int) -> tuple[bytes, int]:
    """Return the body with its newest items only, and the number of items that were removed.

    The start and the end of the feed, before its first and after its last item, are kept.
    """
    first = _ITEM.search(body)
    if first is None:
        return body, 0
    tag = re.escape(first[1])
    starts = [found.start() for found in re.finditer(rb"<" + tag + rb"[\s>]", body)]
    if len(starts) <= max_items:
        return body, 0
    last = body.rfind(b"</" + first[1], starts[-1])
    end = body.find(b">", last) + 1 if last >= 0 else 0
    bounds = [*starts, end or len(body)]
    dates = read_dates([_date(body, *bounds[i : i + 2]) for i in range(len(starts))])
    kept = b"".join(body[bounds[i] : bounds[i + 1]] for i in select_newest(dates, max_items))
    return body[: starts[0]] + kept + body[bounds[-1] :], len(starts) - max_items


def has_item(body: bytes) -> bool:
    """Return whether a body contains the start tag of an item or entry."""
    return _ITEM.search(body) is not None


def remove_cut_item(body: bytes) -> tuple[bytes, int]:
    """Return a body that was cut, up to its last complete item, and the number of items removed.

    The elements around the items are closed, so that feedparser's strict parser reads the feed.
    """
    first = _ITEM.search(body)
    if first is None:
        return body, 0
    last = body.rfind(b"</" + first[1], 0, body.rfind(b">") + 1)
    end = body.find(b">", last) + 1 if last >= 0 else 0
    whole = body[:end] if end else body[: first.start()]
    rest = body[len(whole) :]
    opened: list[bytes] = []
    for is_closing, name in _CONTAINER.findall(body, 0, min(first.start(), _HEAD)):
        if not is_closing:
            opened.append(name)
        elif name in opened:
            opened.remove(name)
    closing = b"".join(b"</" + name + b">" for name in reversed(opened))
    return whole + closing, len(_ITEM.findall(rest))


def _date(body: bytes, start: int, end: int) -> str | None:
    """Return the date of an item between two positions, as its feed spells it."""
    found = _PUBLISHED.search(body, start, end) or _UPDATED.search(body, start, end)
    return found[1].decode(errors="replace").strip() if found else None
