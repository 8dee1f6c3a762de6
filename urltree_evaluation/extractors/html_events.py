"""The markup of a page as events, for extractors of our own: linear in the page, whatever it is."""

from __future__ import annotations

from urltree.html.encoding import scrub
from urltree.html.parser import Target, parse


def feed_events(html: str, target: Target) -> None:
    """Call `target` with the elements and texts of a page, in document order.

    libxml2 repairs the markup: what opens closes, in order. A page without any text or element
    calls `target.close` alone.

    Raises:
        PageError: `too-large`, for markup that cannot be parsed in bounded time.
    """
    parse(scrub(html).encode().replace(b"\0", b""), target)
