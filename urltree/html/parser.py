"""Parse HTML with lxml's SAX parser, in a time that is linear in the size of the page.

For each end tag, libxml2 searches all open elements for the matching start tag. A megabyte with
50,000 open elements and 150,000 end tags that match none of them took libxml2 23 s (measured).
libxml2 reports no event for an end tag without a start tag. Therefore a page with very many tags is
parsed in chunks, and the cost of these searches is estimated after each chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from lxml import etree

from urltree.page import PageError, Reason

LIBXML = (2, 14, 6)  # version bundled with lxml; the stored block hashes depend on this version

MAX_TAGS = 600_000  # start and end tags of a page; 2.5 million took 8.5 s (measured)
_ORDINARY_TAGS = 30_000  # a page with fewer tags takes less than a second, so nothing is counted
_CHUNK = 4_096  # bytes of a chunk
_MAX_OPEN = 250_000  # open elements
_MAX_SEARCHED = 300_000_000  # steps of searches for missing start tags; all take one second


class Target(Protocol):
    """The methods that lxml calls while it parses."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""

    def end(self, tag: str) -> None:
        """Handle the end of an element."""

    def data(self, text: str) -> None:
        """Handle text."""

    def close(self) -> Any:
        """Handle the end of the page, and return the result of the parse."""


def parse_html(utf8: bytes, target: Target) -> Any:
    """Parse HTML, and return the result of `target.close`.

    Args:
        utf8: page in UTF-8.
        target: handler of the parser's events.

    Raises:
        PageError: `too-large`: to parse the page could take more than about two seconds. The page
            has too many tags, open elements, or end tags that match no open element.
    """
    tags = utf8.count(b"<")
    if tags > MAX_TAGS:
        raise PageError(
            Reason.TOO_LARGE, f"html: has {tags} tags, more than the limit of {MAX_TAGS}"
        )
    fed: Any = target if tags <= _ORDINARY_TAGS else _Counted(target)
    parser = etree.HTMLParser(target=fed, huge_tree=True, encoding="utf-8")
    if isinstance(fed, _Counted):
        for at in range(0, len(utf8), _CHUNK):
            chunk = utf8[at : at + _CHUNK]
            parser.feed(chunk)
            fed.check(chunk.count(b"</"))
    else:
        parser.feed(utf8)
    return parser.close()


class _Counted:
    """A target that counts open elements and estimates libxml2's searches for start tags."""

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
        """Refuse the page if it exceeds a limit.

        Args:
            end_tags: number of end tags in the last chunk.

        Raises:
            PageError: `too-large`.
        """
        self._searched += max(0, end_tags - self._ended) * self._open
        self._ended = 0
        if self._open > _MAX_OPEN or self._searched > _MAX_SEARCHED:
            raise PageError(
                Reason.TOO_LARGE,
                f"html: takes too long to parse: {self._open} open elements, and many end tags that"
                " match none of them",
            )
