"""The address of a feed: the normalised form of a URL that a person typed.

    " Example.org:443/a b "   https://example.org/a%20b

The URL is changed as a browser changes it (WHATWG URL): the case of the host, IDN to punycode, the
default port, dot segments, spaces. Percent escapes and the query are not changed, because servers
may treat another spelling as another resource.
"""

from __future__ import annotations

import re

import can_ada

from urltree.address.url import MAX_URL, normalise
from urltree.page import PageError

_FEED_SCHEME = re.compile(r"\A(?:feed:(?://)?(?=https?://)|feed(?=://))", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def feed_address(text: str) -> str:
    """Return the absolute http or https URL of a feed, without its fragment.

    A text without scheme becomes an https URL. The scheme `feed` is replaced.

    Raises:
        ValueError: the text is not a URL, contains a user name or password, or is too long.
    """
    shown = text.strip()
    shown = shown if len(shown) <= 200 else shown[:200] + "…"
    full = _FEED_SCHEME.sub(_replace_scheme, _SURROGATE.sub("\ufffd", text.strip()), count=1)
    try:
        parsed = can_ada.parse(full if _SCHEME.match(full) else f"https://{full}")
        parsed.hash = ""
        url: str = parsed.href
        normalise(url)
    except (ValueError, PageError):
        raise ValueError(f"{shown!r} is not an http or https URL") from None
    if parsed.username or parsed.password:
        raise ValueError(
            f"{shown!r} contains a user name or password; remove it, because the feed's URL is "
            "stored with every page"
        )
    if len(url) > MAX_URL:
        raise ValueError(
            f"{shown!r} is too long: {len(url)} characters, at most {MAX_URL} are allowed"
        )
    return url


def _replace_scheme(scheme: re.Match[str]) -> str:
    """Return the text that replaces a `feed` scheme: none for `feed:`, http for `feed://`."""
    return "" if ":" in scheme[0] else "http"
