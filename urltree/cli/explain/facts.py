"""What table and JSON Lines both say of a page, its blocks and its elements."""

from __future__ import annotations

from collections import Counter

from urltree.cli.explain.terminal import escape_controls
from urltree.output.explanation import Explanation, Main, NodeCounts

_NAMES = 2  # of an element


def reason(explanation: Explanation, position: int) -> str | None:
    """Why a block is boilerplate: the paper's heuristics know repetition alone."""
    if not explanation.judgement.boilerplate[position]:
        return None
    kind = explanation.kind(position)
    return kind.label if kind else "repeated"


def location(explanation: Explanation, position: int) -> str | None:
    """Where a block stands: the `title` block, in the `main` element, or neither."""
    if position == explanation.title:
        return "title"
    return "main" if explanation.inside[position] else None


def nodes(explanation: Explanation) -> list[NodeCounts]:
    """The root, the node that judged, and those with more than this page."""
    return [
        node
        for depth, node in enumerate(explanation.nodes)
        if node.support > 1 or depth in (0, explanation.judgement.depth)
    ]


def counts(explanation: Explanation, position: int) -> list[tuple[int, int]]:
    """Documents with a block, and all documents, at each of these nodes."""
    return [(counted[position], support) for _, support, counted in nodes(explanation)]


def count_words(explanation: Explanation) -> tuple[int, Counter[str]]:
    """Words that are kept, and those that are dropped by reason."""
    kept, dropped = 0, Counter[str]()
    for position, size in enumerate(explanation.words):
        why = reason(explanation, position)
        if why is None:
            kept += size
        else:
            dropped[why] += size
    return kept, dropped


def path(explanation: Explanation, element: int, most: int | None = None) -> str:
    """An element and those around it with their first names: `body > div.entry > p`."""
    names: list[str] = []
    while element >= 0:
        tag, element, tokens = explanation.document.elements[element]
        named = [token if token[0] == "#" else f".{token}" for token in tokens[:_NAMES]]
        names.append(escape_controls(tag + "".join(named)))
    shown = names if most is None else names[:most]
    return ("… > " if len(shown) < len(names) else "") + " > ".join(reversed(shown))


def main_by_page_alone(explanation: Explanation, main: Main) -> str:
    """The main element that the page alone would have."""
    return "none" if main.alone is None else path(explanation, main.alone)
