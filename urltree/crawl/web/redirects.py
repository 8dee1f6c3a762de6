"""The target of a redirect, and the spelling of a URL in a request."""

from __future__ import annotations

import can_ada

from urltree.crawl.decisions.response import Response, Trouble, WebError


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

    Escapes and parameters stay the same. Characters that are invalid in a request are escaped. The
    host is written in ASCII, and an IP address in its usual notation.

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
        raise WebError(Trouble.REDIRECT, f"{url[:200]!r} is not a valid URL") from None
    if parsed.protocol not in ("http:", "https:") or not parsed.hostname:
        raise WebError(Trouble.REDIRECT, f"{url[:200]!r} is not an http or https URL")
    return str(parsed.href).partition("#")[0]


def _text(url: str) -> str:
    """Replace surrogates, which the parser does not accept."""
    return url.encode(errors="replace").decode()
