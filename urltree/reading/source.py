"""What may be given as a page, and how it is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from urltree.html.encoding import scrub
from urltree.page import FIELDS, Page, PageError, Reason

# A PageError stands for a page that its reader could not read.
Source = Page | Mapping[str, Any] | tuple[str | None, str | bytes] | PageError


def check_source(source: Source, origin: str) -> tuple[Page, str]:
    """The page and its origin: the mapping's own, else the one given.

    Lone surrogates in its texts become U+FFFD, for they cannot be written as UTF-8.

    Raises:
        PageError: `malformed`, naming the field and what it should be.
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
    """The URL as given, also of a page that is malformed; None where it is no text."""
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
    message = f"a page should be a Page, a mapping, or (url, html), is {type(source).__name__}"
    raise PageError(Reason.MALFORMED, message)
