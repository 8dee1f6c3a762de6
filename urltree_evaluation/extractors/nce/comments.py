"""Phase 2 of NCE: cut off all text from the head (author and date) of the first comment on.

    <p>the body …</p>
    <div><b>Ann</b> <i>May 3, 2012 at 5:04 pm</i></div>  ◀─┐ similar: <i>, "0, 0 at 0:0"  everything
    <p>First!</p>                                          │ close: few ids between       from here
    <div><b>Bob</b> <i>May 3, 2012 at 9:17 pm</i></div>  ◀─┤                              on is cut
    <p>No.</p>                                             │
    <div><b>Eve</b> <i>May 4, 2012 at 1:30 am</i></div>  ◀─┘ three: a component

Our copy of the paper shows only the idea of this phase: "repetitive patterns like dates,
permalinks", blocks "closely located" with "similar content", and a connected component of at least
3 blocks. Here a head is a block of few characters with a date, a time or a permalink. Two heads are
similar if they have the same tag and class, and the same content after numbers and words are
replaced. A short text in a long paragraph, such as a date before a link, is not a head. On one page
of the corpus used for fitting, three such texts would otherwise cut off a third of the article.

Each component is a run of similar heads with short distances, so no graph is built. As in the
paper, the search ends at the first component.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from urltree.html.elements import INLINE
from urltree_evaluation.extractors.nce.constants import Constants
from urltree_evaluation.extractors.nce.page import Forest, PageTree

ENOUGH = 3  # lowest number of heads in a component (paper, phase 2, step 3)

# 5:04, 17h30, 3/5/2012, 2012-05-03, "May 3, 2012", "3 de mayo de 2012", 2012年5月3日
_MOMENT = re.compile(
    r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b|\d{4}\s?年\s?\d{1,2}\s?月"
    r"|\b\d{1,2}\b\D{1,20}\b(?:19|20)\d{2}\b"
)
_NUMBERS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
# #comment-1234, #c1234, #1234; the number of a footnote has fewer than three digits
_PERMALINK = re.compile(r"#\D{0,30}\d{3,}$")


class _Run(NamedTuple):
    first: int
    last: int
    heads: int


def remove_comments(tree: PageTree, forest: Forest, constants: Constants) -> Forest:
    """Return the part of a forest before the first comment; the whole forest if none is found.

    Comments come after a body (paper, assumption 2). If the text before the supposed comments is
    shorter than a separator's text must be, they are not comments and the whole forest is returned.
    """
    first = _first_head(tree, forest, constants)
    if first is None:
        return forest
    start = _outermost(tree, forest, first, constants.head)
    kept = [(begin, min(end, start)) for begin, end in forest if begin < start]
    size = sum(tree.characters[end] - tree.characters[begin] for begin, end in kept)
    return kept if size >= constants.separator else forest


def _first_head(tree: PageTree, forest: Forest, constants: Constants) -> int | None:
    """Return the first head of the first run of `ENOUGH` close and similar heads, or None."""
    runs: dict[str, _Run] = {}
    for node, likeness in _heads(tree, forest, constants.head):
        run = runs.get(likeness)
        is_close = run is not None and node - run.last <= constants.distance
        run = _Run(run.first, node, run.heads + 1) if run and is_close else _Run(node, node, 1)
        if run.heads == ENOUGH:
            return run.first
        runs[likeness] = run
    return None


def _heads(tree: PageTree, forest: Forest, most: int) -> Iterator[tuple[int, str]]:
    """Yield nodes that look like a comment's head, with a key that is equal for similar heads."""
    for begin, end in forest:
        for node in range(begin, end):
            shape = _shape(tree, node, most)
            if shape:
                owner = node if tree.tags[node] else tree.parents[node]
                kind = tree.attributes.get(owner, {}).get("class", "")
                yield node, f"{tree.tags[owner]} {_NUMBERS.sub('0', kind)} {shape}"


def _shape(tree: PageTree, node: int, most: int) -> str:
    """Return a head's date or permalink with numbers and words replaced; "" if it is no head."""
    if tree.tags[node] == "a":
        href = tree.attributes.get(node, {}).get("href", "")
        found = _PERMALINK.search(href[-100:])
    elif not tree.tags[node] and tree.size(node) <= most:
        found = _MOMENT.search(tree.texts[node])
    else:
        return ""
    is_head = found is not None and _block_size(tree, node, most) <= most
    return _LETTERS.sub("a", _NUMBERS.sub("0", found[0])) if found and is_head else ""


def _block_size(tree: PageTree, node: int, most: int) -> int:
    """Return the number of characters in the block around a node.

    If an inline element around the node has more than `most` characters, return its size instead.
    """
    while tree.size(node) <= most and (not tree.tags[node] or tree.tags[node] in INLINE):
        node = tree.parents[node]
    return tree.size(node)


def _outermost(tree: PageTree, forest: Forest, node: int, most: int) -> int:
    """Return the largest subtree of the forest around a node that has at most `most` characters."""
    begin = next(begin for begin, end in forest if begin <= node < end)
    while node > begin and tree.size(tree.parents[node]) <= most:
        node = tree.parents[node]
    return node
