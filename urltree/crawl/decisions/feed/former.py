"""The hash that the previous release stored for an item; it will be removed with a later release.

The previous release hashed title, description, date and link. It kept markup in titles, took every
date from feedparser, and did not remove credentials from links. Its rows of `seen_items` are valid
for `seen_days` after an upgrade, so an item whose row has this hash is not new.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from urltree.crawl.decisions.feed.dates import format_time
from urltree.crawl.decisions.feed.item import item_hash
from urltree.crawl.decisions.feed.parsed_feed import MAX_DESCRIPTION, MAX_TITLE, truncate_text

_DATES = ("published_parsed", "created_parsed", "updated_parsed")


def former_xml_hash(entry: Any, link: str) -> bytes:
    """Return the hash of an entry of feedparser.

    Args:
        entry: entry of the body in the encoding that feedparser guesses.
        link: link of the entry, with its credentials.
    """
    title, detail = entry.get("title"), entry.get("title_detail") or {}
    is_html = isinstance(title, str) and detail.get("type") == "text/html"
    return item_hash(
        truncate_text(html.unescape(title) if is_html else title, MAX_TITLE),
        truncate_text(entry.get("summary"), MAX_DESCRIPTION),
        _xml_date(entry),
        link,
    )


def former_json_hash(entry: Any, link: str, description: str | None) -> bytes:
    """Return the hash of an item of a JSON Feed."""
    return item_hash(
        truncate_text(entry.get("title"), MAX_TITLE),
        description,
        _json_date(entry.get("date_published")) or _json_date(entry.get("date_modified")),
        link,
    )


def align(
    links: Sequence[str | None], former: Sequence[Any], former_links: Sequence[str | None]
) -> list[Any]:
    """Return the former entry of each entry, None where there is none.

    Another decoding changes texts, but nearly never the number of entries. If it does, entries are
    found by their links.

    Args:
        links: links of the entries.
        former: entries as the previous release read them.
        former_links: links of these entries.
    """
    if len(former) == len(links):
        return list(former)
    found = dict(zip(reversed(former_links), reversed(former), strict=True))
    return [found.get(link) if link else None for link in links]


def _xml_date(entry: Any) -> str | None:
    for name in _DATES:
        parsed = dict.get(entry, name)  # feedparser's `get` substitutes one date for another
        if parsed is None:
            continue
        try:
            moment = datetime(*parsed[:6])  # noqa: DTZ001 - `format_time` reads it as UTC
        except ValueError:
            continue
        if (text := format_time(moment)) is not None:
            return text
    return None


def _json_date(text: Any) -> str | None:
    try:
        return format_time(datetime.fromisoformat(text.strip().upper()))
    except (AttributeError, ValueError):
        return None
