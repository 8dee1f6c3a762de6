"""Builders of documents for tests: from block hashes, or from the HTML of a small page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from urltree.document import Document
from urltree.html.blocks import Element, TextBlock
from urltree.html.tokenizer import TOKENIZER_VERSION, tokenize
from urltree.site.row import Row
from urltree.tree.url_tree import Node

DOMAIN = "example.org"
BODY = Element("p", -1, ())


def text_block(block_hash: int, text: str | None = None) -> TextBlock:
    """Return a paragraph with this hash; its default text is `block HASH`."""
    return TextBlock(
        f"block {block_hash}" if text is None else text, 0, 0, 0.0, hidden=False, hash=block_hash
    )


def document(  # noqa: PLR0913 - what a test does not name has a default
    number: int,
    hashes: Sequence[int],
    path: str = "",
    *,
    origin: str | None = None,
    published: str | None = None,
    tokenizer: int = TOKENIZER_VERSION,
) -> Document:
    """Return a document of example.org whose id is its number."""
    return Document(
        id=f"{number:032x}",
        domain=DOMAIN,
        url=f"https://{DOMAIN}/{path}",
        response_url=None,
        url_key=f"https://{DOMAIN}/{path}",
        title=None,
        description=None,
        published=published,
        fetched_at=None,
        origin=origin or f"raw-html/0/{number}",
        meta={},
        tokenizer=tokenizer,
        key_version=1,
        language=None,
        canonical=None,
        author=None,
        json_ld=(),
        blocks=tuple(map(text_block, hashes)),
        elements=(BODY,),
        blocks_over_cap=0,
    )


def of_html(  # noqa: PLR0913 - what a test does not name has a default
    number: int,
    html: str,
    path: str = "",
    *,
    title: str | None = None,
    origin: str | None = None,
    published: str | None = None,
) -> Document:
    """Return a document of example.org that is made from HTML; its id is its number."""
    page = tokenize(html)
    return replace(
        document(number, [], path, origin=origin, published=published),
        title=title,
        page_title=page.title,
        blocks=page.blocks,
        elements=page.elements,
    )


def nodes(root: Node) -> Mapping[tuple[str, ...], tuple[int, dict[int, int]]]:
    """Return a dict from the branch of each node of a tree to the node's support and counts."""
    found = {}
    waiting: list[tuple[tuple[str, ...], Node]] = [((), root)]
    while waiting:
        branch, node = waiting.pop()
        found[branch] = (node.support, dict(node.counts()))
        waiting += [((*branch, name), child) for name, child in node.children.items()]
    return found


def decoded(stored: bytes | None) -> Row | None:
    """Return the row that these bytes encode, None if there are no bytes."""
    return None if stored is None else Row.decode(stored)
