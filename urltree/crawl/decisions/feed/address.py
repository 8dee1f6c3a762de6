"""The address of a feed as a person wrote it, in the one spelling under which it is followed.

    " Example.org:443/a b "   https://example.org/a%20b

What browsers would send, no more (WHATWG URL): case of the host, IDN as punycode, default port,
dot segments, spaces. Escapes and the query stay verbatim, for servers tell them apart.
"""

from __future__ import annotations

import re

import can_ada

from urltree.address.url import MAX_URL, normalise
from urltree.page import PageError

_FEED_SCHEME = re.compile(r"feed:(?://)?(?=https?://)|feed(?=://)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def feed_address(text: str) -> str:
    """An absolute http or https URL without fragment; https where the text has no scheme.

    Raises:
        ValueError: it is none, has a password, or is too long.
    """
    shown = text.strip()
    shown = shown if len(shown) <= 200 else shown[:200] + "…"
    full = _FEED_SCHEME.sub(_plain, _SURROGATE.sub("\ufffd", text.strip()), count=1)
    try:
        parsed = can_ada.parse(full if _SCHEME.match(full) else f"https://{full}")
        parsed.hash = ""
        url: str = parsed.href
        normalise(url)
    except (ValueError, PageError):
        raise ValueError(f"{shown!r} is no http or https address") from None
    if parsed.username or parsed.password:
        raise ValueError(f"{shown!r} has a name or password, which every page would carry along")
    if len(url) > MAX_URL:
        raise ValueError(f"{shown!r} has more than {MAX_URL} characters")
    return url


def _plain(scheme: re.Match[str]) -> str:
    """`feed:` before an address is nothing, `feed://` means http."""
    return "" if ":" in scheme[0] else "http"
