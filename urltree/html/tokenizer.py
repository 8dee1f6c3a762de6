"""The tokenizer splits HTML into text blocks in one pass of lxml's SAX parser (paper, section 2).

    <ul class="news">            start ul    open: html > body > ul
      <li><a>One</a> story</li>  start li    open: html > body > ul > li
                                 data        chunks: "One" (inside a link), " story"
                                 end li      block "One story", element li, link share 3/8
      <li>Two</li>               end li      block "Two", element li
    </ul>                        end ul      only white space: no block

Inline tags do not end a block. Any other start or end tag ends a block. The first block of an
element adds the element, after its ancestors, to the elements of the page.

libxml2 repairs the markup, so that start and end events are always balanced (tested). No tree is
built. Therefore time and memory are linear in the size of the page, however deeply its elements
are nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import cast

from urltree.html.blocks import Element, TextBlock, TokenizedPage, block_hashes
from urltree.html.elements import DROPPED, HEADINGS, INLINE, VOID, read_attributes
from urltree.html.encoding import decode_html, scrub
from urltree.html.head import HeadReader
from urltree.html.parser import parse_html

TOKENIZER_VERSION = 1
MAX_BLOCKS = 10_000
# Largest depth of an element. Blocks in deeper elements belong to their ancestor at this depth.
# Browsers have such a limit too (Blink: 512).
MAX_DEPTH = 512

# All other tags are block-level: they end a block and may contain blocks.
_INLINE, _LINK, _PRE, _VOID, _DROP, _ROOT = range(6)
_KINDS = (
    dict.fromkeys(INLINE, _INLINE)
    | {"a": _LINK, "pre": _PRE, "html": _ROOT}
    | dict.fromkeys(VOID, _VOID)
    | dict.fromkeys(DROPPED | {"title"}, _DROP)
)
# These calls take a third of the time of calls of the classes (measured).
_text_block = partial(tuple.__new__, TextBlock)
_element = partial(tuple.__new__, Element)


def tokenize(html: str | bytes, content_type: str | None = None) -> TokenizedPage:
    """Split a page into text blocks; a page without text has no blocks.

    Args:
        html: HTML as text, or as bytes, which are decoded first (`urltree.html.encoding`).
        content_type: HTTP header Content-Type; its charset is used to decode bytes.

    Raises:
        PageError: `too-large`: the markup cannot be parsed in bounded time.
    """
    text = decode_html(html, content_type) if isinstance(html, bytes) else html
    try:
        utf8 = text.encode()
    except UnicodeEncodeError:
        utf8 = scrub(text).encode()
    utf8 = utf8.replace(b"\0", b"")  # browsers drop NULs too; each NUL would cause an event
    return cast("TokenizedPage", parse_html(utf8, _Target()))


class _Target:
    """The handler of lxml's events: `start`, `data`, `end`, and `close`, which returns the result.

    Attributes:
        _chunks: pieces of text since the last tag that is not inline.
        _path: open elements that are not inline, from <html> to the innermost element.
        _entered: one entry for each element of `_path` that is already in `_elements`. The entry
            has the index of the element, and the heading level and hidden flag of its blocks.
        _links, _pres, _drops: numbers of open <a>, <pre> and dropped elements.
        _link_from: index of the first chunk inside the outermost open <a>.
        _linked: chunks of the current block that are inside closed links.
        _dropped: outermost dropped element; while it is open, all chunks belong to it.
    """

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self.data = self._chunks.append  # the most frequent event needs no method of this class
        self._path: list[tuple[str, Mapping[str, str]]] = []
        self._entered: list[tuple[int, int, bool]] = []
        self._links = self._pres = self._drops = 0
        self._link_from = 0
        self._linked: list[str] = []
        self._dropped: tuple[str, Mapping[str, str]] = ("", {})
        self._texts: list[str] = []
        self._places: list[tuple[int, int, bool]] = []
        self._shares: list[float] = []
        self._over_cap = 0
        self._elements: list[Element] = []
        self._head = HeadReader()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        kind = _KINDS.get(tag)
        if kind is None:
            if not self._drops:
                if self._chunks:
                    self._end_block()
                self._path.append((tag, attributes))
        elif kind != _INLINE:
            self._start_special(kind, tag, attributes)

    def end(self, tag: str) -> None:
        kind = _KINDS.get(tag)
        if kind is None:
            if not self._drops:
                self._leave()
        elif kind != _INLINE:
            self._end_special(kind, tag)

    def _start_special(self, kind: int, tag: str, attributes: Mapping[str, str]) -> None:
        if self._drops:
            self._drops += kind == _DROP
        elif kind == _LINK:
            if not self._links:
                self._link_from = len(self._chunks)
            self._links += 1
        elif tag == "br" and self._pres:
            self._chunks.append("\n")
        else:
            if self._chunks:
                self._end_block()
            if kind == _DROP:
                self._drops, self._dropped = 1, (tag, attributes)
                return
            if kind != _VOID:
                self._path.append((tag, attributes))
                self._pres += kind == _PRE
            if attributes:
                self._head.read(tag, attributes)

    def _end_special(self, kind: int, tag: str) -> None:
        if self._drops:
            self._drops -= kind == _DROP
            if not self._drops:
                self._head.read_body(*self._dropped, "".join(self._chunks))
                self._chunks.clear()
        elif kind == _LINK:
            self._links -= 1
            if not self._links:
                self._linked += self._chunks[self._link_from :]
        elif kind != _VOID:
            self._leave()
            self._pres -= tag == "pre"

    def _leave(self) -> None:
        if self._chunks:
            self._end_block()
        if len(self._entered) == len(self._path):
            self._entered.pop()
        self._path.pop()

    def close(self) -> TokenizedPage:
        head = self._head
        return TokenizedPage(
            tuple(map(_text_block, self._rows())),
            tuple(self._elements),
            self._over_cap,
            head.title or None,
            head.language,
            head.canonical,
            head.author,
            tuple(head.json_ld),
        )

    def _rows(self) -> Iterator[tuple[str, int, int, float, bool, int]]:
        """Yield the blocks as tuples; the hashes of all blocks are computed together."""
        columns = zip(
            self._texts, self._places, self._shares, block_hashes(self._texts), strict=True
        )
        for text, (index, heading, hidden), share, block_hash in columns:
            yield text, index, heading, share, hidden, block_hash

    def _end_block(self) -> None:
        chunks = self._chunks
        text = chunks[0] if len(chunks) == 1 else "".join(chunks)
        if self._links:  # the block ends inside an open link
            self._linked += chunks[self._link_from :]
            self._link_from = 0
        if not text.isspace():
            if len(self._texts) < MAX_BLOCKS:
                self._add_block(text)
            else:
                self._over_cap += 1
        chunks.clear()
        if self._linked:
            self._linked.clear()

    def _add_block(self, text: str) -> None:
        if len(self._entered) < len(self._path):
            self._enter()
        self._texts.append(_lines(text) if self._pres else " ".join(text.split()))
        self._places.append(self._entered[-1])
        self._shares.append(self._link_share(text) if self._linked else 0.0)

    def _link_share(self, text: str) -> float:
        if len(self._linked) == len(self._chunks):
            return 1.0
        return round(_visible("".join(self._linked)) / _visible(text), 2)

    def _enter(self) -> None:
        """Add those open elements to `_elements` that are not in `_elements` yet."""
        parent, heading, hidden = self._entered[-1] if self._entered else (-1, 0, False)
        for tag, attributes in self._path[len(self._entered) : MAX_DEPTH]:
            names, hides = read_attributes(attributes) if attributes else ((), False)
            self._elements.append(_element((tag, parent, names)))
            parent = len(self._elements) - 1
            heading = HEADINGS.get(tag, heading)
            hidden = hidden or hides
            self._entered.append((parent, heading, hidden))


def _visible(text: str) -> int:
    """Return the number of characters that are not white space."""
    return len("".join(text.split()))


def _lines(text: str) -> str:
    """Return the text of a `pre` without blank lines around it; other lines and spaces are kept."""
    text = text.rstrip()
    first_line = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1
    return text[first_line:]
