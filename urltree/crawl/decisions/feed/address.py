"""The address of a feed: the normalised form of a URL that a person typed.

    " Example.org:443/a b "   https://example.org/a%20b

The URL is changed as a browser changes it (WHATWG URL): the case of the host, IDN to punycode, the
default port, dot segments, spaces. Percent escapes and the query are not changed, because servers
may treat another spelling as another resource.

An address with a user name or password is refused, and no message or log shows them.
"""

from __future__ import annotations

import re
from typing import Any

import can_ada

from urltree.address.url import MAX_URL, normalise
from urltree.page import PageError

MASK = "***"  # in place of the user name and password

_FEED_SCHEME = re.compile(r"\A(?:feed:(?://)?(?=https?://)|feed(?=://))", re.IGNORECASE)
_SCHEME = re.compile(r"https?:[/\\]|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"\A(?:feed:)?[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 200  # largest number of characters of an address in a message


def feed_address(text: str) -> str:
    """Return the absolute http or https URL of a feed, without its fragment.

    A text without scheme becomes an https URL. The scheme `feed` is replaced.

    Raises:
        ValueError: the text is not a URL, contains a user name or password, or is too long. The
            message shows neither of them.
    """
    try:
        parsed = _parse(text)
        parsed.hash = ""
        url: str = parsed.href
        normalise(url)
    except (ValueError, PageError):
        raise ValueError(f"{_shown(text)!r} is not an http or https URL") from None
    if parsed.username or parsed.password:
        raise ValueError(
            f"{_shown(text)!r} contains a user name or password, and the address is stored with "
            "every page; write them to a file below credentials_dir, and pass the address without "
            "them and the name of the file with --credentials"
        )
    if len(url) > MAX_URL:
        raise ValueError(
            f"{_shown(text)!r} is too long: {len(url)} characters, at most {MAX_URL} are allowed"
        )
    return url


def has_credentials(text: str) -> bool:
    """Return whether an address contains a user name or password.

    If a text is not a URL, every `@` counts as the end of a password.
    """
    try:
        parsed = _parse(text)
    except ValueError:
        return "@" in text
    if parsed.protocol not in ("http:", "https:"):
        return "@" in text
    return bool(parsed.username or parsed.password)


def mask_credentials(text: str) -> str:
    """Return an address with `***` in place of its user name and password.

    An address without them is returned unchanged, even if its path contains an `@`. If a text is
    not a URL, or contains another `@`, everything from its scheme to its last `@` is masked: the
    password may contain characters that end it for the parser, such as `?` and `/`.
    """
    if not has_credentials(text):
        return text
    try:
        parsed = _parse(text)
        if parsed.protocol in ("http:", "https:"):
            parsed.username, parsed.password = MASK, ""
            masked = str(parsed.href)
            if masked.count("@") == 1:
                return masked
    except ValueError:
        pass
    scheme = _ANY_SCHEME.match(text.strip())
    return f"{scheme[0] if scheme else ''}{MASK}@{text.rpartition('@')[2]}"


def _parse(text: str) -> Any:
    """Parse an address as a browser does.

    Raises:
        ValueError: the text is not a URL.
    """
    full = _FEED_SCHEME.sub(_replace_scheme, _SURROGATE.sub("\ufffd", text.strip()), count=1)
    return can_ada.parse(full if _SCHEME.match(full) else f"https://{full}")


def _shown(text: str) -> str:
    shown = mask_credentials(text.strip())
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"


def _replace_scheme(scheme: re.Match[str]) -> str:
    """Return the text that replaces a `feed` scheme: none for `feed:`, http for `feed://`."""
    return "" if ":" in scheme[0] else "http"
