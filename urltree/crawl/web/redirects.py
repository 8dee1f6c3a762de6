"""Where an answer points, and what of a URL goes out."""

from __future__ import annotations

import can_ada

from urltree.crawl.decisions.response import Response, Trouble, WebError


def redirect_target(answer: Response) -> str:
    """Give the absolute http or https URL that a redirect points to, without its fragment.

    Raises:
        WebError: REDIRECT, where it points to no such address.
    """
    location = answer.headers.get("location", "").strip()
    if not location:
        raise WebError(Trouble.REDIRECT, f"status {answer.status} without a Location")
    return request_url(location, answer.url)


def request_url(url: str, base: str | None = None) -> str:
    """Read a URL as browsers do (WHATWG URL), and write it as it goes out.

    Escapes and parameters stay as they are; what may not stand in a request is escaped, a host is
    written in ASCII, and an IP address in its usual form, however it was disguised.

    Raises:
        WebError: REDIRECT, where it is no http or https URL.
    """
    try:
        parsed = can_ada.parse(_text(base or url))
        if base is not None:
            parsed += _text(url)
    except ValueError:
        raise WebError(Trouble.REDIRECT, f"{url[:200]!r} is no URL") from None
    if parsed.protocol not in ("http:", "https:") or not parsed.hostname:
        raise WebError(Trouble.REDIRECT, f"{url[:200]!r} is no http or https URL")
    return str(parsed.href).partition("#")[0]


def _text(url: str) -> str:
    """Without surrogates, which the parser does not take."""
    return url.encode(errors="replace").decode()
