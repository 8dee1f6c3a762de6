"""Find the date, author and description of a page; its HTML is parsed once."""

from __future__ import annotations

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from urltree.document import FoundMetadata
from urltree.enrich.metadata.json_ld import read_article
from urltree.enrich.metadata.publication_date import publication_date
from urltree.html.encoding import decode_html, scrub
from urltree.page import Page

# Characters of HTML that are read. The slowest page of this size that we made took 1.2 s: it had
# 240 nested elements of class `date`, and the text of each was read. A usual page takes 1.5 ms.
MAX_HTML = 250_000
MAX_AUTHOR = 300  # characters of the authors' names
MAX_DESCRIPTION = 2_000  # characters of a description

_AUTHORS = ("author", "article:author", "parsely-author", "sailthru.author", "dc.creator")
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
_ADDRESSES = ("http://", "https://", "//", "@")


def parse_metadata(page: Page) -> FoundMetadata:
    """Return the metadata in the HTML of a page; it is empty if the HTML cannot be parsed."""
    tree = _tree(page)
    if tree is None:
        return FoundMetadata()
    metas = _metas(tree)
    article = read_article(_json_ld(tree))
    return FoundMetadata(
        date=publication_date(tree, page),
        author=_author(metas) or _line(article.author, MAX_AUTHOR),
        description=_first(metas, _DESCRIPTIONS, MAX_DESCRIPTION)
        or _line(article.description, MAX_DESCRIPTION),
    )


def _tree(page: Page) -> HtmlElement | None:
    text = page.html if isinstance(page.html, str) else decode_html(page.html, page.content_type)
    utf8 = scrub(text[:MAX_HTML]).encode().replace(b"\0", b"")
    parser = HTMLParser(encoding="utf-8", collect_ids=False, remove_pis=True)
    try:
        return document_fromstring(utf8, parser=parser)
    except (etree.LxmlError, ValueError):  # the page has no markup
        return None


def _metas(tree: HtmlElement) -> dict[str, str]:
    """Return the content of the meta elements by their name, property or itemprop in lower case.

    If several elements have the same name, the first one is used.
    """
    contents: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop")
        content = meta.get("content")
        if name and content and not content.isspace():
            contents.setdefault(name.strip().lower(), content)
    return contents


def _json_ld(tree: HtmlElement) -> list[str]:
    return [
        script.text
        for script in tree.iter("script")
        if script.text and "ld+json" in script.get("type", "").lower()
    ]


def _author(metas: dict[str, str]) -> str | None:
    """Return the first author that is not an address; `article:author` is often a profile's URL."""
    named = {
        name: metas[name]
        for name in _AUTHORS
        if name in metas and not metas[name].strip().lower().startswith(_ADDRESSES)
    }
    return _first(named, _AUTHORS, MAX_AUTHOR)


def _first(metas: dict[str, str], names: tuple[str, ...], limit: int) -> str | None:
    return _line(next((metas[name] for name in names if name in metas), None), limit)


def _line(text: str | None, limit: int) -> str | None:
    """Collapse white space and cut the text at the limit; return None if no text is left."""
    return None if text is None else " ".join(text[: 4 * limit].split())[:limit].rstrip() or None
