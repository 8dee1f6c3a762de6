"""The one module that imports trafilatura."""

from __future__ import annotations

import logging

from trafilatura import extract

from urltree.html.encoding import decode_html, scrub
from urltree.page import Page

MAX_HTML = 500_000  # characters; nobody is asked about a longer page

logging.getLogger("trafilatura").addHandler(logging.NullHandler())


def extract_text(page: Page) -> str | None:
    """The page's text by trafilatura's own rules alone; None where it has no answer.

    A function of the page alone: no address, no memory, no date, no network.
    """
    if len(page.html) > MAX_HTML:
        return None
    html = page.html if isinstance(page.html, str) else decode_html(page.html, page.content_type)
    try:
        text: str | None = extract(
            scrub(html).replace("\0", ""), fast=True, include_comments=False, include_tables=True
        )
    except Exception:  # noqa: BLE001 - whatever goes wrong in there, the page has done no wrong
        return None
    return text
