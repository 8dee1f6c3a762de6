"""Phase 1 of NCE: the separator node, and those of its children that are no link lists.

    <body>
      <div class=page>                 has no notable sibling: would do, were no closer one found
        <div class=main>               ◀─ separator: long enough, one notable sibling
          <ul><li><a>…</a>                dropped: link density above child_links
          <p>the first long text …</p>    the leaf that the search begins at; <p> is passed over
          <p>…</p>                        kept
        </div>
        <div class=side>…</div>        the one notable sibling
        <ul><li><a>…</a></ul>          a sibling that is links is not notable
      </div>

<html> is no paragraph and has no sibling: where it is long enough, the first leaf that is has a
separator above it, and no second leaf is ever looked at.
"""

from __future__ import annotations

from urltree_evaluation.extractors.nce.constants import Constants
from urltree_evaluation.extractors.nce.page import Forest, PageTree


def find_body(tree: PageTree, constants: Constants) -> Forest:
    """The children of the separator node with few links; the whole tree where there is none."""
    node = find_separator(tree, constants)
    if node is None:
        return [(0, len(tree.tags))]
    return [
        (child, tree.ends[child])
        for child in tree.children(node)
        if tree.link_density(child) <= constants.child_links
    ]


def find_separator(tree: PageTree, constants: Constants) -> int | None:
    """The node whose children are the body, None where no leaf has one above it."""
    node = _first_leaf(tree, constants.leaf)
    while node is not None and not _separates(tree, node, constants):
        node = tree.parents[node] if tree.parents[node] >= 0 else None
    return node


def _first_leaf(tree: PageTree, characters: int) -> int | None:
    """The first text of that length; a long <title> is none, <head> not being shown."""
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
