"""A page without URL: a domain of its own, where all is kept and nothing is remembered."""

from __future__ import annotations

import xxhash

from urltree.address.url_key import KEY_VERSION, UrlKey
from urltree.document import Document
from urltree.html.tokenizer import tokenize
from urltree.page import Page

_ALONE = ".invalid"  # never on the web (RFC 2606)


def lone_document(page: Page, origin: str) -> Document:
    """Its id is XXH3-128 of key version and HTML, its domain `ID.invalid` (ours).

    Raises:
        PageError: the page's fault.
    """
    html = page.html if isinstance(page.html, bytes) else page.html.encode(errors="replace")
    number = xxhash.xxh3_128_hexdigest(b"%d %s" % (KEY_VERSION, html))
    address = f"https://{number}{_ALONE}/"
    key = UrlKey(number + _ALONE, address, address, number)
    return Document.of(page, key, tokenize(page.html, page.content_type), origin)


def is_lone(document: Document) -> bool:
    """Whether a document's page had no URL."""
    return document.domain == document.id + _ALONE
