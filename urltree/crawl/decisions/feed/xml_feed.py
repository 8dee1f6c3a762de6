"""Parser for RSS, Atom, RDF and CDF. It uses feedparser, which finds links in damaged feeds too.

Feedparser gets a stream and never text, because it may open text as a file name or an address. Its
SAX parser does not load external entities and limits the expansion of entities. Feedparser reads
4,000 items per second, or 1,500 items of a damaged feed. So `xml_items.py` removes surplus items
before feedparser reads the feed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import unescape
from io import BytesIO
from typing import Any, NamedTuple

import feedparser

from urltree.crawl.decisions.feed import former, polling_hints, xml_items, xml_repair
from urltree.crawl.decisions.feed.dates import (
    DayOrder,
    find_day_order,
    format_time,
    read_date,
    read_dates,
)
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import (
    MAX_DESCRIPTION,
    ParsedFeed,
    ParseOptions,
    absolute_link,
    guid_text,
    html_content,
    limit_contents,
    plain_title,
    remove_credentials,
    select_newest,
    truncate_text,
)
from urltree.crawl.decisions.response import Trouble, WebError

_PUBLISHED = ("published", "created", "updated")
_HTML = {"text/html", "application/xhtml+xml"}
_CONTENT = re.compile(
    rb"<(?:(?!media:)[\w.-]{1,40}:)?(?:encoded|content|body|fullitem)[\s>]", re.IGNORECASE
)
_ID = re.compile(
    rb"<(?:[\w.-]{1,40}:)?(?:guid|id)(?:\s[^<>]{0,200})?>\s*(?:<!\[CDATA\[)?([^<\]]{1,4096})"
    rb"|\srdf:about=[\"']([^\"']{1,4096})",
    re.IGNORECASE,
)
_GREEK = re.compile("[\u0370-\u03ff]")


def parse_xml_feed(
    body: bytes, content_type: str | None, url: str, options: ParseOptions
) -> ParsedFeed:
    """Parse an XML feed; see `urltree.crawl.decisions.feed.parsing.parse_feed`."""
    body, charset = xml_repair.find_encoding(body, content_type)
    if xml_repair.is_html_page(body):
        raise WebError(Trouble.NOT_A_FEED, "the body is an HTML page")
    if options.is_cut and not xml_items.has_item(body):
        # Feedparser would take some hundred MB for a bomb, and find nothing.
        raise WebError(Trouble.NOT_A_FEED, "the beginning of the body has no item of a feed")
    body, cut = xml_items.remove_cut_item(body) if options.is_cut else (body, 0)
    short, surplus = xml_items.keep_newest_items(body, options.max_items)
    repaired = xml_repair.replace_invalid_references(short)
    mended, encoding = xml_repair.mend_utf_8(repaired, charset)
    separated = xml_repair.separate_media_descriptions(mended)
    found = _read(separated, encoding)
    entries, feed = found["entries"], found["feed"]
    if not found.get("version") and not entries:
        raise WebError(Trouble.NOT_A_FEED, "the body is not an RSS, Atom, RDF, CDF or JSON feed")
    formers = entries
    if options.with_former and separated != repaired:
        formers = _former_entries(entries, repaired, charset, url)
    chosen = _newest(entries, options.max_items)
    texts = [_date_text(entries[index]) for index in chosen]
    context = _Context(
        url=url,
        order=find_day_order(texts),
        ids=_written_ids(separated),
        is_atom=str(found.get("version")).startswith("atom"),
        with_former=options.with_former,
        with_content=options.with_content and _CONTENT.search(short) is not None,
    )
    items = [_item(entries[index], formers[index], context) for index in chosen]
    linked = limit_contents(items)
    return ParsedFeed(
        title=_title(feed, context),
        items=linked,
        ttl=polling_hints.read_ttl(feed),
        skip_hours=polling_hints.read_skip_hours(short),
        skip_days=polling_hints.read_skip_days(short),
        truncated=cut + surplus + len(entries) - len(chosen),
        skipped=len(items) - len(linked),
    )


class _Context(NamedTuple):
    """What the items of a feed have in common.

    Attributes:
        url: address of the response.
        order: order of day and month in numeric dates.
        ids: ids as the feed spells them; None if all ids are as the feed spells them.
        is_atom: whether the types of titles can be trusted.
        with_former, with_content: see `ParseOptions`.
    """

    url: str
    order: DayOrder | None
    ids: frozenset[str] | None
    is_atom: bool
    with_former: bool
    with_content: bool


def _newest(entries: list[Any], max_items: int) -> Sequence[int]:
    """Return the indexes of the newest entries, if `xml_items` could not remove the others."""
    if len(entries) <= max_items:
        return range(len(entries))
    return select_newest(read_dates([_date_text(entry) for entry in entries]), max_items)


def _read(body: bytes, charset: str | None) -> Any:
    """Parse a body with feedparser; if it fails, parse again without the tags that make it fail."""
    try:
        return _feedparser(body, charset)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a parser may raise anything for hostile input
        body = xml_repair.remove_failing_tags(body)
    try:
        return _feedparser(body, charset)
    except MemoryError:
        raise
    except Exception as error:
        raise WebError(Trouble.NOT_A_FEED, f"the feed cannot be parsed: {error!r:.200}") from error


def _former_entries(entries: list[Any], body: bytes, charset: str | None, url: str) -> list[Any]:
    """Return each entry as the previous release read it, None if it could not read the feed."""
    try:
        read = _read(body, charset)["entries"]
    except WebError:
        return [None] * len(entries)
    links, former_links = ([_link(entry, url) for entry in each] for each in (entries, read))
    return former.align(links, read, former_links)


def _feedparser(body: bytes, charset: str | None) -> Any:
    content_type = f"application/xml; charset={charset}"
    return feedparser.parse(
        BytesIO(body),
        response_headers={"content-type": content_type} if charset else {},
        resolve_relative_uris=False,
        sanitize_html=False,
    )


def _item(entry: Any, former_entry: Any, context: _Context) -> FeedItem | None:
    address = _link(entry, context.url)
    if address is None:
        return None
    former_hash = None
    if context.with_former and former_entry is not None:
        former_link = _link(former_entry, context.url)
        former_hash = former_link and former.former_xml_hash(former_entry, former_link)
    return FeedItem(
        link=remove_credentials(address),
        title=_title(entry, context),
        description=truncate_text(
            entry.get("summary") or entry.get("media_summary"), MAX_DESCRIPTION
        ),
        published=_date(entry, _PUBLISHED, context.order),
        updated=_date(entry, ("updated",), context.order),
        guid=_guid(entry, context.ids),
        content=_content(entry) if context.with_content else None,
        former_hash=former_hash or None,
    )


def _title(titled: Any, context: _Context) -> str | None:
    """Return the title of a feed or an entry as plain text.

    Atom names the type of a title. In the other formats every title is HTML, because publishers
    escape it differently, and no format says how.
    """
    kind = (titled.get("title_detail") or {}).get("type")
    return plain_title(titled.get("title"), is_html=not context.is_atom or kind in _HTML)


def _guid(entry: Any, ids: frozenset[str] | None) -> str | None:
    """Return the guid of an entry; None if feedparser has resolved it against xml:base.

    A number would then look like an address of the site.
    """
    guid = dict.get(entry, "id")
    if ids is not None and guid not in ids:
        return None
    return guid_text(guid)


def _written_ids(body: bytes) -> frozenset[str] | None:
    """Return the ids in a body; None if the body has no xml:base that could change them."""
    if b"xml:base" not in body:
        return None
    found = (first or second for first, second in _ID.findall(body))
    return frozenset(unescape(each.decode(errors="replace")).strip() for each in found)


def _content(entry: Any) -> str | None:
    """Return the longest of an entry's contents, as HTML.

    Feedparser adds further descriptions to the contents; they are shorter.
    """
    contents = (
        html_content(each.get("value"), is_html=each.get("type") in _HTML)
        for each in entry.get("content", ())
        if each.get("type") in {"text/plain", *_HTML}
    )
    return max(filter(None, contents), key=len, default=None)


def _link(entry: Any, url: str) -> str | None:
    """Return the link of an entry.

    The first choice is feedburner:origLink. Without it, the pages of many sites would be requested
    through one host, which counts readers and redirects to the page. A guid is used only if it is
    an absolute URL, because most guids are numbers. Feedparser has already resolved links that are
    relative to xml:base; all others are relative to the feed's URL.
    """
    origin = absolute_link(entry.get("feedburner_origlink"), None)
    if origin is not None:
        return origin
    found = absolute_link(entry.get("link"), None if entry.get("guidislink") else url)
    if found is not None:
        return found
    alternates = (each for each in entry.get("links", ()) if each.get("rel") == "alternate")
    return next(filter(None, (absolute_link(each.get("href"), url) for each in alternates)), None)


def _date(entry: Any, names: Iterable[str], order: DayOrder | None) -> str | None:
    """Return the first readable date of an entry.

    The date of an update comes last, because an edit changes it but does not make a new item.
    """
    for name in names:
        text = dict.get(entry, name)  # feedparser's `get` substitutes one date for another
        found = read_date(text, order) or _greek_date(text, dict.get(entry, f"{name}_parsed"))
        if found is not None:
            return found
    return None


def _greek_date(text: Any, parsed: Any) -> str | None:
    """Return a date as feedparser read it, if it is in Greek, which only it knows.

    The year must be in the text, because feedparser completes some dates with today's.
    """
    if not isinstance(text, str) or parsed is None or not _GREEK.search(text):
        return None
    if str(parsed[0]) not in text:
        return None
    try:
        return format_time(datetime(*parsed[:6]))  # noqa: DTZ001 - `format_time` reads it as UTC
    except ValueError:
        return None


def _date_text(entry: Any) -> Any:
    """Return the date of an entry as the feed spells it."""
    return next(filter(None, (dict.get(entry, name) for name in _PUBLISHED)), None)
