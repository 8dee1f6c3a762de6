"""The forms in which the caller of the library may give a page, and the check of each form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from urltree.html.encoding import scrub
from urltree.page import FIELDS, Page, PageError, Reason

# A PageError replaces a page that could not be read.
Source = Page | Mapping[str, Any] | tuple[str | None, str | bytes] | PageError


def check_source(source: Source, origin: str) -> tuple[Page, str]:
    """Check a page, and return the page and its origin.

    Lone surrogates in texts of the page become U+FFFD, because UTF-8 cannot encode them.

    Args:
        source: page in one of the forms of `Source`.
        origin: origin of the page, if `source` does not have a field `origin`.

    Raises:
        PageError: `malformed`; the message names the field and what it should be. If `source` is a
            PageError, it is raised unchanged.
    """
    if isinstance(source, PageError):
        raise source
    fields = _fields(source)
    own = fields.get("origin")
    if own is not None and not isinstance(own, str):
        raise PageError(Reason.MALFORMED, f"origin: should be a string, is {type(own).__name__}")
    page = Page.from_fields(fields)
    texts = {name: getattr(page, name) for name in FIELDS if name != "html"}
    scrubbed: dict[str, Any] = {n: scrub(t) for n, t in texts.items() if isinstance(t, str)}
    meta = {scrub(name): scrub(text) for name, text in page.meta.items()}
    return replace(page, **scrubbed, meta=meta), scrub(own or origin)


def url_of(source: Source) -> str | None:
    """Return the request URL of a page, even of a malformed page; None if it is not a string."""
    try:
        url = _fields(source).get("url")
    except PageError:
        return None
    return scrub(url) if isinstance(url, str) else None


def _fields(source: Any) -> Mapping[str, Any]:
    match source:
        case Page():
            return {name: getattr(source, name) for name in FIELDS}
        case Mapping():
            return source
        case (url, html):
            return {"url": url, "html": html}
    message = f"page: should be a Page, a mapping or a pair (url, html), is {type(source).__name__}"
    raise PageError(Reason.MALFORMED, message)
