"""Phase 1 of NCE: find the separator node, and its children that are not lists of links.

    <body>
      <div class=page>                no notable sibling, but the search ends before it
        <div class=main>              ◀─ separator: long enough, one notable sibling
          <ul><li><a>…</a></ul>       dropped: link density above child_links
          <p>the first long text</p>  here the search begins; <p> is no separator
          <p>…</p>                    kept
        </div>
        <div class=side>…</div>       the one notable sibling
        <ul><li><a>…</a></ul>         a sibling that consists of links is not notable
      </div>

<html> is not a paragraph and has no sibling. If <html> has enough text, a search that begins at the
first long leaf therefore always finds a separator, and a second leaf is never tried.
"""

from __future__ import annotations

from urltree_evaluation.extractors.nce.constants import Constants
from urltree_evaluation.extractors.nce.page import Forest, PageTree


def find_body(tree: PageTree, constants: Constants) -> Forest:
    """Return the separator's children with few links; the whole tree if there is no separator."""
    node = find_separator(tree, constants)
    if node is None:
        return [(0, len(tree.tags))]
    return [
        (child, tree.ends[child])
        for child in tree.children(node)
        if tree.link_density(child) <= constants.child_links
    ]


def find_separator(tree: PageTree, constants: Constants) -> int | None:
    """Return the node whose children are the body, or None if there is no such node."""
    node = _first_leaf(tree, constants.leaf)
    while node is not None and not _separates(tree, node, constants):
        node = tree.parents[node] if tree.parents[node] >= 0 else None
    return node


def _first_leaf(tree: PageTree, characters: int) -> int | None:
    """Return the first text in <body> with at least this number of characters."""
    start = tree.tags.index("body") if "body" in tree.tags else 0
    leaves = (node for node in range(start, len(tree.tags)) if tree.texts[node])
    return next((leaf for leaf in leaves if tree.size(leaf) >= characters), None)


def _separates(tree: PageTree, node: int, constants: Constants) -> bool:
    if tree.tags[node] in {"", "p"} or tree.size(node) < constants.separator:
        return False
    parent = tree.parents[node]
    siblings = tree.children(parent) if parent >= 0 else ()
    return sum(_is_notable(tree, each, constants) for each in siblings if each != node) <= 1


def _is_notable(tree: PageTree, node: int, constants: Constants) -> bool:
    return (
        tree.size(node) >= constants.notable and tree.link_density(node) < constants.sibling_links
    )
