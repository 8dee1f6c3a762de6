"""Extract the text of a page with trafilatura. No other module imports trafilatura."""

from __future__ import annotations

import logging

from trafilatura import extract

from urltree.html.encoding import decode_html, scrub
from urltree.page import Page

MAX_HTML = 500_000  # characters of HTML; trafilatura is not run on a longer page

logging.getLogger("trafilatura").addHandler(logging.NullHandler())


def extract_text(page: Page) -> str | None:
    """Return the text that trafilatura extracts from a page, or None if it fails or finds no text.

    The result depends on the HTML alone: trafilatura gets no address and no date, and uses neither
    earlier pages nor the network.
    """
    if len(page.html) > MAX_HTML:
        return None
    html = page.html if isinstance(page.html, str) else decode_html(page.html, page.content_type)
    try:
        text: str | None = extract(
            scrub(html).replace("\0", ""), fast=True, include_comments=False, include_tables=True
        )
    except Exception:  # noqa: BLE001 - trafilatura's error must not cost the page
        return None
    return text
