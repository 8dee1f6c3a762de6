"""The text of a page by trafilatura; no other module imports it."""

from __future__ import annotations

import logging

from trafilatura import extract

from urltree.html.encoding import decode_html, scrub
from urltree.page import Page

MAX_HTML = 500_000  # characters; longer pages are not extracted

logging.getLogger("trafilatura").addHandler(logging.NullHandler())


def extract_text(page: Page) -> str | None:
    """Return the page's text by trafilatura's own rules, None if it finds none or fails.

    The result depends on the page alone: no address, memory, date or network is used.
    """
    if len(page.html) > MAX_HTML:
        return None
    html = page.html if isinstance(page.html, str) else decode_html(page.html, page.content_type)
    try:
        text: str | None = extract(
            scrub(html).replace("\0", ""), fast=True, include_comments=False, include_tables=True
        )
    except Exception:  # noqa: BLE001 - an error in trafilatura is not the page's fault
        return None
    return text
