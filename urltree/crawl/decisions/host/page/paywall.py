"""Paywall stubs: pages whose paid part is missing (schema.org, `isAccessibleForFree`).

    {"@type": "NewsArticle", "isAccessibleForFree": false,
     "hasPart": {"isAccessibleForFree": false, "cssSelector": ".paid"}}

A page is a stub only if its JSON-LD says that it is not free, no text lies in its paid part, and
less than a hundred words of its body are left. Many sites send the whole article and hide it by
script: these pages are published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from urltree.crawl.decisions.host.page.visible_text import count_words
from urltree.html.blocks import TokenizedPage
from urltree.html.elements import read_attributes
from urltree.html.tokenizer import tokenize
from urltree.page import PageError

MAX_WORDS = 100  # words of a stub's body

_SAID = b"isAccessibleForFree"
_MAX_NODES = 2_000  # nodes of JSON-LD that are searched
_FALSE = frozenset({"false", "http://schema.org/false", "https://schema.org/false"})
_NAME = re.compile(r"(\.|#)([\w-]+)$")  # the class or id at the end of a selector
_FURNITURE = frozenset({"nav", "header", "footer", "aside", "form", "button", "dialog"})
_LINKED = 0.5  # link share above which a block is navigation


def is_paywall_stub(page: bytes, content_type: str | None = None) -> bool:
    """Return whether the paid part of a page is missing.

    Only pages that contain the name of the property are parsed.

    Args:
        page: bytes of the page.
        content_type: header Content-Type of the response.
    """
    if _SAID not in page:
        return False
    try:
        tokenized = tokenize(page, content_type)
    except PageError:  # it has too many tags for a stub
        return False
    nodes = [node for text in tokenized.json_ld for node in _nodes(text)]
    if not any(_is_paid(node) for node in nodes):
        return False
    names = _paid_names(nodes)
    return names is not None and _is_stub(tokenized, names)


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-LD text."""
    try:
        waiting: list[Any] = [orjson.loads(text)]
    except orjson.JSONDecodeError:
        return
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += [child for child in node.values() if isinstance(child, dict | list)]
        elif isinstance(node, list):
            waiting += node


def _is_paid(node: dict[str, Any]) -> bool:
    free = node.get(_SAID.decode())
    return free is False or (isinstance(free, str) and free.strip().lower() in _FALSE)


def _paid_names(nodes: list[dict[str, Any]]) -> set[str] | None:
    """Return classes and ids of the paid parts; None if a selector cannot be followed."""
    names: set[str] = set()
    for node in nodes:
        selectors = node.get("cssSelector")
        if not _is_paid(node) or selectors is None:
            continue
        for selector in selectors if isinstance(selectors, list) else [selectors]:
            for part in str(selector).split(","):
                found = _NAME.search(part.strip())
                if found is None:
                    return None
                name = found[2] if found[1] == "." else f"#{found[2]}"
                if not read_attributes({"class": name})[0]:
                    return None  # the tokenizer leaves out names of this form
                names.add(name)
    return names


def _is_stub(page: TokenizedPage, paid: set[str]) -> bool:
    is_furniture: list[bool] = []
    for tag, parent, names in page.elements:
        if not paid.isdisjoint(names):
            return False  # an element is listed only if it has text
        is_furniture.append(tag in _FURNITURE or (parent >= 0 and is_furniture[parent]))
    texts = (
        block.text
        for block in page.blocks
        if block.link_share <= _LINKED and not is_furniture[block.element]
    )
    return sum(map(count_words, texts)) < MAX_WORDS
