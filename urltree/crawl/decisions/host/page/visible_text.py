"""The visible words of a page, and a digest that is equal for the same wall at other addresses.

    <title>Not found</title>
    <p>There is no page /news/7-bridge-closed on 4 May.      there is no page on may
                                                             title: not found

The digest is made from the words of the body and from the title. Walls often repeat the address of
the page or show a counter, so words with digits and the segments of the address are left out. Short
posts often have no other words than these. Therefore the title is part of the digest, and only an
address that is written as such is removed from it. Among 31,644 pages, words alone were equal on up
to four posts of a site; with the title, no three pages were equal (measured).
"""

from __future__ import annotations

import html
import re
from functools import cached_property, lru_cache
from typing import TypeGuard
from urllib.parse import unquote_plus, urlsplit

import xxhash

from urltree.crawl.decisions.host.head_links import MAX_HEAD, read_tag
from urltree.html.encoding import decode_html

# These patterns and searches expect bytes in lower case: to ignore case took five times as long.
_HIDDEN = re.compile(rb"<(?:!--|(script|style|noscript|svg|template|title)\b)")
_TITLE = re.compile(rb"<title[^<>]{0,1000}>([^<]{0,4000})")
_BODY = re.compile(rb"</head[\s>]|<body[\s>]")
_LINK = re.compile(rb"<a\s")
_PIECE = re.compile(rb">([^<]*[^<\s][^<]*)")
# ASCII and common Unicode punctuation separates words; each digit becomes a zero.
_MARKS = re.compile(rb"\xe2\x80[\x80-\xbf]|\xc2[\xa0-\xbf]|\xe3\x80[\x80-\x91]")
_WORD_BYTES = bytes(
    code if chr(code).isalpha() or code > 127 else 48 if 48 <= code <= 57 else 32
    for code in range(256)
)
_WORD = re.compile(r"\w+")
# Scripts without spaces between words (Thai to Burmese, kana, Han): two characters are one word.
_UNSPACED = re.compile("[\u0e00-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_LEAST_NAME = 5  # characters; a shorter segment of an address may be a common word

MAX_TEXT = 1024 * 1024  # bytes of a page that are read


class PageText:
    """The visible words of a page.

    Args:
        page: bytes of the page; the first MAX_TEXT bytes are read.
        url: address of the page in its feed.
        final_url: address at which the page ended.
        content_type: header Content-Type of the response.
    """

    def __init__(
        self, page: bytes, url: str, final_url: str, content_type: str | None = None
    ) -> None:
        page = page[:MAX_TEXT]
        try:
            page.decode()
        except UnicodeDecodeError:
            page = decode_html(page, content_type).encode(errors="replace")
        self._url, self._final_url = url, final_url
        page = page.lower()
        found = _TITLE.search(page)
        self._body = _body(page)
        self._head_title = b"> ".join([b"", found[1] if found else b"", _open_graph_title(page)])

    @cached_property
    def _text(self) -> str:
        return _text(self._body)

    @cached_property
    def words(self) -> list[bytes]:
        """Words of the body in lower case and UTF-8; each digit is a zero."""
        return _words(self._text)

    @cached_property
    def title(self) -> str:
        """Text of `<title>` and `og:title` in lower case, without the address of the page."""
        return self._without_address(_text(self._head_title))

    @cached_property
    def own_words(self) -> int:
        """Number of words of the body outside links."""
        return count_words(_text(_cut(self._body, _LINK, b"</a")))

    @cached_property
    def digest(self) -> int:
        """Digest of title and body, 48 bits; equal walls at other addresses have the same."""
        text = b" %b " % b" ".join([word for word in self.words if b"0" not in word])
        for url in {self._url: None, self._final_url: None}:
            for name in _phrases(url):
                text = text.replace(name, b" ")
        title = " ".join(_WORD.findall(self.title)).encode(errors="replace")
        return xxhash.xxh3_64_intdigest(title + b"\0" + text) >> 16

    def shows(self, title: str | None) -> bool:
        """Return whether the page shows most words of a title, in its own title or its body.

        An address that contains the words of the title is not counted.

        Args:
            title: title of the page in its feed. If it is None or has no words, the words of the
                address are searched in the title of the page.
        """
        if not has_words(title):
            wanted = {w for w in _words_of(self._url) if b"0" not in w and len(w) > 2}
            shown = set(_words(self.title))
        else:
            wanted = set(_title_words(title))
            shown = set(_words(self.title))
            if 2 * len(wanted & shown) <= len(wanted):
                text = self._without_address(self._text)
                shown.update(self.words if text is self._text else _words(text))
        return bool(wanted) and 2 * len(wanted & shown) > len(wanted)

    def _without_address(self, text: str) -> str:
        for name in _names(self._url) + _names(self._final_url):
            if name in text:
                text = text.replace(name, " ")
        return text


def has_words(title: str | None) -> TypeGuard[str]:
    """Return whether there is a title, and it is more than markup and punctuation."""
    return title is not None and bool(_title_words(title))


def count_words(text: str) -> int:
    """Return the number of words; in scripts without spaces, two characters are one word."""
    return len(_WORD.findall(text)) + len(_UNSPACED.findall(text)) // 2


def count_body_words(page: bytes) -> int:
    """Return the number of words in the body of a page."""
    return count_words(_text(_body(page[:MAX_TEXT].lower())))


def _body(page: bytes) -> bytes:
    """Return the body of a page in lower case, without what browsers do not show."""
    shown = _cut(page, _HIDDEN)
    head_end = _BODY.search(shown)
    return shown[head_end.start() :] if head_end else b">" + shown


def _open_graph_title(page: bytes) -> bytes:
    """Return the title for previews. Pages that are rendered by script often have no other one."""
    at = page.find(b"og:title", 0, MAX_HEAD)
    start, end = page.rfind(b"<meta", max(0, at - 1_000), at), page.find(b">", at, at + 4_000)
    if at < 0 or start < 0 or end < 0:
        return b""
    return read_tag(page[start + 5 : end]).get("content", "").encode(errors="replace")


def _cut(page: bytes, opening: re.Pattern[bytes], closing: bytes = b"") -> bytes:
    """Return a page without the elements that a pattern opens.

    Args:
        page: bytes of the page in lower case.
        opening: pattern of the start of an element.
        closing: start of the end tags; empty if the first group of `opening` is the element's name,
            without which the element is a comment.
    """
    kept, at = [], 0
    while found := opening.search(page, at):
        kept.append(page[at : found.start()])
        end = closing or (b"</" + found[1] if found[1] else b"-->")
        at = page.find(end, found.end())
        if at < 0:
            break
    else:
        kept.append(page[at:])
    return b" ".join(kept)


def _text(markup: bytes) -> str:
    """Return the text of markup, which begins after a `>`, in lower case, with spaces for tags."""
    text = b" ".join(_PIECE.findall(markup)).decode(errors="replace")
    return (html.unescape(text) if "&" in text else text).lower()


def _words(text: str) -> list[bytes]:
    """Return the words of a text in lower case, in UTF-8; each digit is a zero."""
    return _MARKS.sub(b" ", text.encode(errors="replace")).translate(_WORD_BYTES).split()


@lru_cache(maxsize=512)
def _title_words(title: str) -> tuple[bytes, ...]:
    return tuple(_words(_text(b">" + title.encode(errors="replace"))))


@lru_cache(maxsize=512)
def _words_of(url: str) -> frozenset[bytes]:
    """Return the words of the path and the query of an address, in lower case."""
    parts = urlsplit(url)
    return frozenset(_words(unquote_plus(f"{parts.path} {parts.query}").lower()))


@lru_cache(maxsize=512)
def _phrases(url: str) -> tuple[bytes, ...]:
    """Return path, query and segments of an address as a text may repeat them, the longest first.

    Words with digits are left out, and so is a segment of one word, because many texts contain it.
    """
    parts = urlsplit(url)
    segments = (*parts.path.split("/"), *parts.query.split("&"), parts.path, parts.query)
    words = [_words(unquote_plus(segment).lower()) for segment in segments]
    found = {b" ".join(word for word in some if b"0" not in word) for some in words}
    named = [b" %b " % phrase for phrase in found if b" " in phrase]
    return tuple(sorted(named, key=len, reverse=True))


@lru_cache(maxsize=512)
def _names(url: str) -> tuple[str, ...]:
    """Return the ways to write an address in a text, the longest first, in lower case."""
    parts = urlsplit(url.lower())
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    segments = [segment for segment in parts.path.split("/") if _is_name(segment)]
    found = {url.lower(), target, parts.path, parts.path.strip("/"), *segments}
    found |= {unquote_plus(name) for name in found}
    return tuple(sorted((n for n in found if len(n) >= _LEAST_NAME), key=len, reverse=True))


def _is_name(segment: str) -> bool:
    """Return whether a segment is written with hyphens or escapes, so that it is no word."""
    return any(mark in segment for mark in "-_%.")
