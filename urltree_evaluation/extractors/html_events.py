"""Parser events for our own extractors; parsing takes time linear in the size of the page."""

from __future__ import annotations

from urltree.html.encoding import scrub
from urltree.html.parser import Target, parse_html


def feed_events(html: str, target: Target) -> None:
    """Call `target` with the elements and texts of a page, in document order.

    libxml2 repairs the markup, so start and end events are balanced. For a page without any text or
    element, only `target.close` is called.

    Raises:
        PageError: `too-large`, for markup that cannot be parsed in bounded time.
    """
    parse_html(scrub(html).encode().replace(b"\0", b""), target)
