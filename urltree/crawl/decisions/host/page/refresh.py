"""Redirects by `meta refresh` or by the header Refresh (HTML, "shared declarative refresh steps").

    <meta http-equiv="refresh" content="0; url=/login">       Refresh: 0; url=/login

Only a short delay to another address on a page with little text is a redirect. Live pages reload
themselves every few minutes, and pages for browsers without scripts have a refresh in `<noscript>`.
"""

from __future__ import annotations

import re

import can_ada

from urltree.crawl.decisions.host.head_links import read_base, read_tag
from urltree.crawl.decisions.host.page.visible_text import count_body_words
from urltree.crawl.decisions.response import Response

MAX_DELAY = 5.0  # seconds
MAX_WORDS = 50  # words of the page; a page with more words is no redirect

_SEARCHED = 64 * 1024  # bytes of the page
_MAX_URL = 2_048
_HIDDEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_META = re.compile(rb"<meta\s([^<>]{1,4000})>", re.IGNORECASE)
_REFRESH = re.compile(
    r"""\s*(\d{1,9}(?:\.\d*)?|\.\d+)[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.*)""",
    re.IGNORECASE | re.DOTALL,
)


def find_refresh(response: Response) -> str | None:
    """Return the absolute address to which a page redirects; None if it is no redirect.

    Args:
        response: response with status 2xx. The header precedes the page, as in browsers.
    """
    header = response.headers.get("refresh", "")
    page = response.body[:_SEARCHED]
    if not header and b"refresh" not in page.lower():
        return None
    target = _target(header, response.url, None) or _find_in_page(page, response.url)
    if target is None or count_body_words(response.body) >= MAX_WORDS:
        return None
    return target


def _find_in_page(page: bytes, url: str) -> str | None:
    shown = _HIDDEN.sub(b" ", page)
    for tag in _META.findall(shown):
        attributes = read_tag(tag)
        if attributes.get("http-equiv", "").lower() == "refresh":
            # The first one decides: a browser ignores the others.
            return _target(attributes.get("content", ""), url, read_base(shown))
    return None


def _target(text: str, url: str, base: str | None) -> str | None:
    found = _REFRESH.match(text)
    if found is None or float(found[1]) > MAX_DELAY:
        return None
    link = found[3].partition(found[2])[0] if found[2] else found[3]
    if not link.strip() or len(link) > _MAX_URL:
        return None
    try:
        root = can_ada.parse(url)
        own = str(root.href)
        if base is not None:
            root += base
        target = root + link.strip()
    except ValueError:
        return None
    if target.protocol not in ("http:", "https:"):
        return None
    href = str(target.href).partition("#")[0]
    return None if href == own.partition("#")[0] or len(href) > _MAX_URL else href
