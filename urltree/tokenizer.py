"""The tokenizer: HTML to text blocks, by one lxml SAX target (paper, section 2).

    <ul class="news">            start ul    open: html > body > ul
      <li><a>One</a> story</li>  start li    open: html > body > ul > li
                                 data        chunks: "One" (inside a link), " story"
                                 end li      block "One story", element li, link share 3/8
      <li>Two</li>               end li      block "Two", element li
    </ul>                        end ul      nothing but white space: no block

Inline tags leave no trace: their text runs on. Any other tag, opening or closing, ends the block.
An element enters the page's table when the first block stands in it, after its parents.

libxml2 repairs the markup: what opens closes, in order (tested). No tree is built, so time and
memory stay linear in the page, whatever the nesting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lxml import etree

from urltree.elements import DROPPED, HEADINGS, INLINE, VOID, is_hidden, tokens
from urltree.encoding import decode, scrub
from urltree.text_block import Element, TextBlock, TokenizedPage, block_hash

TOKENIZER_VERSION = 1
LIBXML = (2, 14, 6)  # what lxml bundles where the stored hashes were made
MAX_BLOCKS = 10_000
MAX_JSON_LD = 256 * 1024  # bytes of all bodies together
MAX_DEPTH = 512  # deeper elements count as the one at this depth, as in browsers (Blink: 512)

_INLINE, _LINK, _DELIMIT, _VOID, _DROP = range(5)
_KINDS = (
    dict.fromkeys(INLINE, _INLINE)
    | {"a": _LINK}
    | dict.fromkeys(VOID, _VOID)
    | dict.fromkeys(DROPPED | {"title"}, _DROP)
)


def tokenize(html: str | bytes, content_type: str | None = None) -> TokenizedPage:
    """Take a page apart. Every input has a result; one without text has no blocks.

    Args:
        html: text, or bytes to be decoded first (`urltree.encoding`).
        content_type: the HTTP header, whose charset counts for bytes.
    """
    text = decode(html, content_type) if isinstance(html, bytes) else scrub(html)
    target: Any = _Target()
    parser = etree.HTMLParser(target=target, huge_tree=True, encoding="utf-8")
    page: Any = etree.fromstring(text.encode(), parser)  # what `target.close` returns
    return cast("TokenizedPage", page)


class _Open:
    """An element that is open, in a chain up to <html>.

    Attributes:
        index: its place in the page's table, -1 until a block stands in it.
    """

    __slots__ = ("attributes", "depth", "heading", "hidden", "index", "parent", "pre", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str], parent: _Open | None) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.index = -1
        if parent is None:
            self.depth, self.heading, self.hidden, self.pre = 1, 0, False, False
        else:
            self.depth = parent.depth + 1
            self.heading = HEADINGS.get(tag) or parent.heading
            self.hidden = parent.hidden or bool(attributes and is_hidden(attributes))
            self.pre = parent.pre or tag == "pre"


class _Target:
    """What lxml calls while it parses: `start`, `data`, `end`, and `close` for the result."""

    def __init__(self) -> None:
        self._chunks: list[str] = []  # text since the last delimiter
        self.data = self._chunks.append  # no Python frame for the most frequent call
        self._here: _Open | None = None
        self._too_deep = 0  # open elements beyond MAX_DEPTH
        self._links = 0  # open <a>
        self._link_from = 0  # chunk at which the outermost of them began
        self._linked = 0  # characters inside links since the last delimiter
        self._drops = 0  # open elements that are dropped
        self._drop_from = 0  # chunk at which the outermost of them began
        self._json_ld_type = False  # that one is a script of JSON-LD
        self._json_ld_left = MAX_JSON_LD
        self._blocks: list[TextBlock] = []
        self._over_cap = 0
        self._elements: list[Element] = []
        self._title: str | None = None
        self._language: str | None = None
        self._canonical: str | None = None
        self._author: str | None = None
        self._json_ld: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        kind = _KINDS.get(tag, _DELIMIT)
        if kind == _INLINE:
            return
        if self._drops:
            self._drops += kind == _DROP
        elif kind == _LINK:
            if not self._links:
                self._link_from = len(self._chunks)
            self._links += 1
        elif tag == "br" and self._here is not None and self._here.pre:
            self._chunks.append("\n")
        else:
            self._end_block()
            if kind == _DELIMIT:
                self._open(tag, attributes)
            elif kind == _DROP:
                self._drops = 1
                self._drop_from = len(self._chunks)
                self._json_ld_type = "ld+json" in attributes.get("type", "").lower()
            elif attributes:
                self._read_metadata(tag, attributes)

    def end(self, tag: str) -> None:
        kind = _KINDS.get(tag, _DELIMIT)
        if kind == _INLINE:
            return
        if self._drops:
            if kind == _DROP:
                self._drops -= 1
                if not self._drops:
                    self._end_drop(tag)
        elif kind == _LINK:
            self._links -= 1
            if not self._links:
                self._linked += _visible(self._chunks[self._link_from :])
        elif kind == _DELIMIT:
            self._end_block()
            if self._too_deep:
                self._too_deep -= 1
            elif self._here is not None:
                self._here = self._here.parent

    def close(self) -> TokenizedPage:
        self._end_block()
        return TokenizedPage(
            tuple(self._blocks),
            tuple(self._elements),
            self._over_cap,
            self._title or None,
            self._language,
            self._canonical,
            self._author,
            tuple(self._json_ld),
        )

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        here = self._here
        if here is not None and here.depth == MAX_DEPTH:
            self._too_deep += 1
            return
        self._here = _Open(tag, attributes, here)
        if tag == "html" and self._language is None:
            self._language = attributes.get("lang") or attributes.get("xml:lang") or None

    def _end_block(self) -> None:
        chunks = self._chunks
        if not chunks:
            return
        if self._links:
            self._linked += _visible(chunks[self._link_from :])
            self._link_from = 0
        linked, self._linked = self._linked, 0
        text = "".join(chunks)
        chunks.clear()
        here = self._here
        if here is None or text.isspace():
            return
        if len(self._blocks) == MAX_BLOCKS:
            self._over_cap += 1
            return
        text = _lines(text) if here.pre else " ".join(text.split())
        share = round(linked / _visible([text]), 2) if linked else 0.0
        index = here.index if here.index >= 0 else self._enter(here)
        self._blocks.append(
            TextBlock(text, index, here.heading, share, here.hidden, block_hash(text))
        )

    def _enter(self, element: _Open) -> int:
        """Enter an element in the table, and before it those above it that are not yet there."""
        missing = []
        above: _Open | None = element
        while above is not None and above.index < 0:
            missing.append(above)
            above = above.parent
        parent = -1 if above is None else above.index
        for one in reversed(missing):
            self._elements.append(Element(one.tag, parent, tokens(one.attributes)))
            parent = one.index = len(self._elements) - 1
        return parent

    def _end_drop(self, tag: str) -> None:
        """Take the text of a dropped element away; keep a title and JSON-LD."""
        body = self._chunks[self._drop_from :]
        del self._chunks[self._drop_from :]
        if tag == "title" and self._title is None:
            self._title = " ".join("".join(body).split())
        elif self._json_ld_type and tag == "script":
            script = "".join(body)
            size = len(script.encode())
            if size <= self._json_ld_left:
                self._json_ld_left -= size
                self._json_ld.append(script)

    def _read_metadata(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "meta" and self._author is None:
            if attributes.get("name", "").lower() == "author":
                self._author = " ".join(attributes.get("content", "").split()) or None
        elif tag == "link" and self._canonical is None:  # noqa: SIM102
            if "canonical" in attributes.get("rel", "").lower().split():
                self._canonical = attributes.get("href", "").strip() or None


def _visible(chunks: list[str]) -> int:
    """Number of characters that are not white space."""
    return len("".join("".join(chunks).split()))


def _lines(text: str) -> str:
    """The text of a `pre`: its lines and inner spaces, without blank lines around."""
    lines = text.rstrip().split("\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    return "\n".join(line.rstrip() for line in lines[first:])
