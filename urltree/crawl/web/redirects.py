"""The target of a redirect, and the spelling of a URL in a request.

A user name and a password in a URL are never sent, and never occur in a message: feeds and
redirects contain them by mistake, or to make a client send a password to another server.
"""

from __future__ import annotations

import re

import can_ada

from urltree.crawl.decisions.response import Response, Trouble, WebError

_BEFORE_AUTHORITY = re.compile(r"\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?[/\\]*")  # a scheme and slashes
_AFTER_AUTHORITY = re.compile(r"[/\\?#]")


def redirect_target(response: Response) -> str:
    """Return the absolute http or https URL to which a redirect points, without its fragment.

    Raises:
        WebError: REDIRECT: the Location header is missing, or is not an http or https URL.
    """
    location = response.headers.get("location", "").strip()
    if not location:
        raise WebError(
            Trouble.REDIRECT, f"the response has status {response.status}, but no Location header"
        )
    return request_url(location, response.url)


def request_url(url: str, base: str | None = None) -> str:
    """Parse a URL as browsers do (WHATWG URL); return the URL to request, without its fragment.

    User name and password are removed. Escapes and parameters stay the same. Characters that are
    invalid in a request are escaped. The host is written in ASCII, and an IP address in its usual
    notation.

    Args:
        url: URL as it was found.
        base: URL to which `url` is relative; None if `url` is absolute.

    Raises:
        WebError: REDIRECT: the text is not an http or https URL.
    """
    try:
        parsed = can_ada.parse(_text(base or url))
        if base is not None:
            parsed += _text(url)
    except ValueError:
        shown = mask_credentials(url)[:200]
        raise WebError(Trouble.REDIRECT, f"{shown!r} is not a valid URL") from None
    if parsed.protocol not in ("http:", "https:") or not parsed.hostname:
        shown = mask_credentials(url)[:200]
        raise WebError(Trouble.REDIRECT, f"{shown!r} is not an http or https URL")
    if parsed.username or parsed.password:
        parsed.username = parsed.password = ""
    return str(parsed.href).partition("#")[0]


def without_credentials(url: str) -> str:
    """Return a URL without user name and password; a URL that has none is not changed.

    Raises:
        WebError: REDIRECT: the text has an `@` and is not an http or https URL.
    """
    if "@" not in url:
        return url
    try:
        parsed = can_ada.parse(_text(url))
    except ValueError:
        return request_url(url)  # raises the error
    return request_url(url) if parsed.username or parsed.password else url


def mask_credentials(url: str) -> str:
    """Replace user name and password in a URL by `***`, so that a message can contain the URL.

    In a text that is not a valid URL, everything before the last `@` is replaced, because a
    password may contain a slash.
    """
    before = _BEFORE_AUTHORITY.match(url)
    start = before.end() if before else 0
    after = _AFTER_AUTHORITY.search(url, start) if _is_valid(url) else None
    end = url.rfind("@", start, after.start() if after else len(url))
    return url if end < 0 else f"{url[:start]}***{url[end:]}"


def _is_valid(url: str) -> bool:
    try:
        can_ada.parse(_text(url))
    except ValueError:
        return False
    return True


def _text(url: str) -> str:
    """Replace surrogates, which the parser does not accept."""
    return url.encode(errors="replace").decode()
