"""What a page's head links to: its canonical address and its AMP version.

They are recorded, not followed (issue 4): a canonical link is a claim of the page, and often
wrong; who trusts it can do so downstream.
"""

from __future__ import annotations

import html
import re
from collections import deque

import can_ada

MAX_HEAD = 256 * 1024  # bytes that are looked at
_MAX_URL = 2_048

# Attributes hold no `>` in their values where it matters here; a tag is at most 4,000 bytes.
_END = re.compile(rb"<body[\s>]|</head\s*>", re.IGNORECASE)
_HIDDEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_CLOSED = re.compile(rb"(?:-->|</[a-z]+\s*>)\Z", re.IGNORECASE)
_LINK = re.compile(rb"<link\s([^<>]{1,4000})>", re.IGNORECASE)
_BASE = re.compile(rb"<base\s([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"""([a-z]+)\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)


def links(page: bytes, url: str) -> tuple[str | None, str | None]:
    """The canonical and the AMP link of a page, absolute; None where it has none.

    Args:
        page: as it came; its head is ASCII where it matters in every encoding but UTF-16.
        url: of the page.
    """
    head = _head(page[:MAX_HEAD])
    base = next((_attributes(tag).get("href") for tag in _BASE.findall(head)), None)
    found: dict[str, str] = {}
    for tag in _LINK.findall(head):
        attributes = _attributes(tag)
        for name in attributes.get("rel", "").lower().split():
            if name in ("canonical", "amphtml") and name not in found:
                target = _absolute(attributes.get("href", ""), base, url)
                if target is not None:
                    found[name] = target
    return found.get("canonical"), found.get("amphtml")


def _head(page: bytes) -> bytes:
    """What stands before the body, without comments and scripts.

    Mostly the first `<body` is the body's; where it stands in a script, all of the page is cleaned.
    """
    end = _END.search(page)
    head = page[: end.start()] if end else page
    hidden = _HIDDEN.sub(b"", head)
    if end is None or not _is_open(head):
        return hidden
    hidden = _HIDDEN.sub(b"", page)
    end = _END.search(hidden)
    return hidden[: end.start()] if end else hidden


def _is_open(head: bytes) -> bool:
    """Whether a comment or a script goes on at its end."""
    hidden = deque(_HIDDEN.finditer(head), maxlen=1)
    return any(last.end() == len(head) and not _CLOSED.search(last[0]) for last in hidden)


def _attributes(tag: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(tag):
        text = b"".join(values).decode("utf-8", "replace")
        found.setdefault(name.decode().lower(), html.unescape(text).strip())
    return found


def _absolute(link: str, base: str | None, url: str) -> str | None:
    if not link or len(link) > _MAX_URL:
        return None
    try:
        root = can_ada.parse(url)
        if base is not None:
            root += base
        target = root + link
    except ValueError:
        return None
    href: str = target.href
    return href if target.protocol in ("http:", "https:") and len(href) <= _MAX_URL else None
