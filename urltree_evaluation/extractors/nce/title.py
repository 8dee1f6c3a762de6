"""Phase 3 of NCE: the title, the longest text before the body that could be one.

<title>A cat was found - The Daily</title>      always a candidate                ✓ the longest
<ul><li>News<li>Sports</ul>                     fewer than 4 words
<h1>A cat was found</h1>                        4 words, most of which the body has
<p>… a cat … was found …</p>                    the body's first node: the search ends
"""

from __future__ import annotations

import re

from urltree_evaluation.extractors.nce.constants import Constants
from urltree_evaluation.extractors.nce.page import Forest, PageTree

LEAST = 4  # words (issue 5)

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u9fff\uac00-\ud7af]+")


def find_title(tree: PageTree, forest: Forest, constants: Constants) -> Forest:
    """The subtree of the title, none where nothing could be one.

    Ancestors of the body are no candidates: their text is the body's.
    """
    first = forest[0][0] if forest else 0
    body = set(_words(tree.text(forest)))
    counts, shared = [0], [0]  # words before each id, and those that the body has
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
