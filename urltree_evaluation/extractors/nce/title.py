"""Phase 3 of NCE: find the title, the longest candidate before the body.

<title>A cat was found - The Daily</title>      always a candidate                ✓ the longest
<ul><li>News<li>Sports</ul>                     fewer than 4 words
<h1>A cat was found</h1>                        4 words, most of which are in the body
<p>… a cat … was found …</p>                    the body's first node: the search ends
"""

from __future__ import annotations

import re

from urltree_evaluation.extractors.nce.constants import Constants
from urltree_evaluation.extractors.nce.page import Forest, PageTree

LEAST = 4  # lowest number of words of a title

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u9fff\uac00-\ud7af]+")


def find_title(tree: PageTree, forest: Forest, constants: Constants) -> Forest:
    """Return the subtree of the title, or an empty forest if there is no candidate.

    Ancestors of the body are not candidates, because their text includes the body.
    """
    first = forest[0][0] if forest else 0
    body = set(_words(tree.text(forest)))
    counts, shared = [0], [0]  # words before each id, and those of them in the body
    for text in tree.texts[:first]:
        found = _words(text)
        counts.append(counts[-1] + len(found))
        shared.append(shared[-1] + sum(word in body for word in found))
    best, longest = 0, 0
    for node, end in enumerate(tree.ends[:first]):
        if end > first or tree.size(node) <= longest:
            continue
        words, common = counts[end] - counts[node], shared[end] - shared[node]
        fits = LEAST <= words <= constants.title_most and common >= constants.title_shared * words
        if fits or tree.tags[node] == "title":
            best, longest = node, tree.size(node)
    return [(best, tree.ends[best])] if longest else []


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
