"""lxml's SAX parser, fed with a page in time linear in the page.

libxml2 looks for the partner of every end tag among all open elements: a megabyte of 50,000 open
elements and 150,000 end tags that close none of them took it 23 s (measured). It makes no call
for such a tag, so a page with very many tags is fed piece by piece and its searches are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from lxml import etree

from urltree.page import PageError, Reason

LIBXML = (2, 14, 6)  # what lxml bundles where the stored hashes were made

MAX_TAGS = 600_000  # opening and closing; 2.5 million took 8.5 s (measured)
_ORDINARY_TAGS = 30_000  # whatever their order, they take less than a second
_PIECE = 4_096  # bytes
_MAX_OPEN = 250_000  # elements
_MAX_SEARCHED = 300_000_000  # open elements looked at for end tags without partner, about a second


class Target(Protocol):
    """What lxml calls while it parses."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element opens."""

    def end(self, tag: str) -> None:
        """An element closes."""

    def data(self, text: str) -> None:
        """Some text."""

    def close(self) -> Any:
        """The page is over; what it returns is the result."""


def parse_html(utf8: bytes, target: Target) -> Any:
    """Parse HTML; returns what `target.close` returns.

    Raises:
        PageError: `too-large`: more tags, open elements, or end tags without partner than can
            be parsed in about two seconds.
    """
    tags = utf8.count(b"<")
    if tags > MAX_TAGS:
        raise PageError(Reason.TOO_LARGE, f"html: {tags} tags, more than {MAX_TAGS}")
    fed: Any = target if tags <= _ORDINARY_TAGS else _Counted(target)
    parser = etree.HTMLParser(target=fed, huge_tree=True, encoding="utf-8")
    if isinstance(fed, _Counted):
        for at in range(0, len(utf8), _PIECE):
            piece = utf8[at : at + _PIECE]
            parser.feed(piece)
            fed.check(piece.count(b"</"))
    else:
        parser.feed(utf8)
    return parser.close()


class _Counted:
    """Counts what is open, and what must have been searched for end tags without partner."""

    def __init__(self, target: Target) -> None:
        self._start, self._end = target.start, target.end
        self.data, self.close = target.data, target.close
        self._open = self._ended = self._searched = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open += 1
        self._start(tag, attributes)

    def end(self, tag: str) -> None:
        self._open -= 1
        self._ended += 1
        self._end(tag)

    def check(self, end_tags: int) -> None:
        """After a piece with so many end tags."""
        self._searched += max(0, end_tags - self._ended) * self._open
        self._ended = 0
        if self._open > _MAX_OPEN or self._searched > _MAX_SEARCHED:
            raise PageError(
                Reason.TOO_LARGE, f"html: {self._open} open elements, end tags that close none"
            )
