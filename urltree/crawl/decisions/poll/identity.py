"""The keys under which an item is recognised, and the marks that show that it is the same item.

    key        made of                                        known to
    link       the link without noise                         the site
    guid       the guid (RSS) or id (Atom, JSON Feed)         the feed; the site, if it is a URI of
                                                              the site's own domain
    text       title and text without markup                  the feed
    loose      the link without the values of its query,      the feed
               the words of title and text
    revisit    the link without noise                         the feed

A key is 16 bytes: xxh3_128 of a version, the name of the key, and its parts. Many parts of an item
change although the item does not: a counter of comments, a tracking pixel, the date, a session in
the link. So no key contains all of them, and the marks in a row (digests of 4 bytes) decide in
cases of doubt. `item_decision` applies the keys and the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlsplit

import xxhash

from urltree.address.query_rules import shipped_noise
from urltree.address.url import NormalUrl, Parameter, encode_query, normalise
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.page import PageError

_VERSION = b"\2"  # prefix of the hashed bytes; the hash of releases before 0.3 begins with 1

NO_MARK = bytes(4)  # mark of a part that the item does not have
Marks = tuple[bytes, bytes, bytes, bytes]

_LONG = 20  # words of a text that is not repeated by chance

_TAG = re.compile(r"<[^<>]*>")
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.)[^\s<>\"']+", re.IGNORECASE)
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w-]{8,}", re.ASCII)
_WORD = re.compile(r"[^\W\d_]+")
_TAG_URI = re.compile(r"tag:([^,:/]+),\d{4}", re.IGNORECASE)  # RFC 4151


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies an item of one feed.

    Attributes:
        link: key of the link without noise.
        guid: key of the guid; None if the item has none.
        text: key of title and text; None if the item has neither.
        loose: key of the link without the values of its query, and of the words.
        query: parameters of the link, apart from noise.
        is_long: whether the text is too long to be repeated by chance.
        revisit: key of the row for revisits.
        words: digests of the words of the title and of the description.
        marks: digests of path, title, date and text; the text is without markup and addresses. An
            item without title has the mark of its text as that of its title.
        updated: digest of the date of the last change.
    """

    link: bytes
    guid: bytes | None
    text: bytes | None
    loose: bytes
    query: tuple[Parameter, ...]
    is_long: bool
    revisit: bytes
    words: tuple[bytes, bytes]
    marks: Marks
    updated: bytes

    @property
    def listing(self) -> tuple[object, ...]:
        """Equal for two entries of a list that are the same item, listed twice."""
        return self.link, self.guid, self.words


def identify(item: FeedItem, site: str, feed: str) -> Identity:
    """Return what identifies an item.

    Args:
        item: item of a feed.
        site: registrable domain of the feed.
        feed: URL under which the feed was added.
    """
    link, path, query = _link(item.link)
    names = " ".join(name for name, _ in query)
    title, text = plain_text(item.title), plain_text(item.description)
    title_words, text_words = words_of(title), words_of(text)
    guid = None
    if item.guid:
        guid = _key("guid", "" if is_global(item.guid, site) else feed, item.guid)
    return Identity(
        link=_key("link", link),
        guid=guid,
        text=_key("text", feed, title, text) if title or text else None,
        loose=_key("loose", feed, path, names, title_words, text_words),
        query=query,
        is_long=text_words.count(" ") >= _LONG,
        revisit=_key("revisit", feed, link),
        words=(_mark(title_words), _mark(text_words)),
        marks=(_mark(path), _mark(title or text), _mark(item.published), _mark(text)),
        updated=_mark(item.updated),
    )


def link_key(url: str) -> bytes:
    """Return the key of a link in table `seen_items`, 16 bytes."""
    return _key("link", _link(url)[0])


def is_global(guid: str, site: str) -> bool:
    """Return whether a guid is an absolute URI of the site's own domain.

    Only such an id is the same item in all feeds of the site: an http or https URL, or a tag URI.
    """
    tag = _TAG_URI.match(guid)
    try:
        host = tag[1].split("@")[-1] if tag else urlsplit(guid).hostname
    except ValueError:
        return False
    if not host or not (tag or guid.lower().startswith(("http://", "https://"))):
        return False
    host = host.lower()
    return host == site or host.endswith(f".{site}")


def plain_text(html: str | None) -> str:
    """Return a text without markup, addresses and superfluous white space."""
    if not html:
        return ""
    text = html
    if "<" in text or "&" in text:
        text = unescape(_TAG.sub(" ", text))
        if "<" in text:
            text = _TAG.sub(" ", text)
    if "://" in text or "www." in text.lower():
        text = _ADDRESS.sub(" ", text)
    return " ".join(text.split())


def words_of(text: str) -> str:
    """Return the words of a text in lower case, without digits and punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def is_random(value: str) -> bool:
    """Return whether the value of a parameter looks like the id of a session."""
    return _RANDOM.fullmatch(value) is not None


def _link(url: str) -> tuple[str, str, tuple[Parameter, ...]]:
    """Return the link without noise, its host and path, and the parameters in its query.

    The scheme does not count.
    """
    try:
        normal = normalise(url)
    except PageError:
        return url, url, ()
    noise = shipped_noise()
    place = f"{_netloc(normal)}{noise.strip(normal.path)}"
    query = noise.drop(normal.query)
    link = f"{place}{encode_query(query)}{normal.fragment}"
    return link, place, query


def _netloc(url: NormalUrl) -> str:
    return url.host if url.port in {"80", "443"} else url.netloc


def _key(*parts: str) -> bytes:
    return xxhash.xxh3_128_digest(_VERSION + _joined(parts))


def _joined(parts: Iterable[str]) -> bytes:
    return b"".join(part.encode(errors="replace").replace(b"\0", b"") + b"\0" for part in parts)


def _mark(text: str | None) -> bytes:
    return xxhash.xxh32_digest(text.encode(errors="replace")) if text else NO_MARK
