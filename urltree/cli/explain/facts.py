"""Facts about a page, its blocks and its elements; the table and the JSON Lines both show them."""

from __future__ import annotations

from collections import Counter

from urltree.cli.explain.terminal import escape_controls
from urltree.output.explanation import Explanation, Main, NodeCounts

_NAMES = 2  # class and id tokens of an element that are shown


def reason(explanation: Explanation, position: int) -> str | None:
    """Return why a block is boilerplate, None for content.

    The paper's heuristics have one reason only, `repeated`.
    """
    if not explanation.verdict.boilerplate[position]:
        return None
    kind = explanation.kind(position)
    return kind.label if kind else "repeated"


def location(explanation: Explanation, position: int) -> str | None:
    """Return `title` for the title block, `main` for a block in the main element, else None."""
    if position == explanation.title:
        return "title"
    return "main" if explanation.inside[position] else None


def nodes(explanation: Explanation) -> list[NodeCounts]:
    """Return the root, the node that judged, and the nodes that contain other pages too."""
    return [
        node
        for depth, node in enumerate(explanation.nodes)
        if node.support > 1 or depth in (0, explanation.verdict.depth)
    ]


def counts(explanation: Explanation, position: int) -> list[tuple[int, int]]:
    """Return (documents with the block, all documents) at each node that `nodes` returns."""
    return [(counted[position], support) for _, support, counted in nodes(explanation)]


def count_words(explanation: Explanation) -> tuple[int, Counter[str]]:
    """Count the words that are kept, and the dropped words for each reason."""
    kept, dropped = 0, Counter[str]()
    for position, size in enumerate(explanation.words):
        why = reason(explanation, position)
        if why is None:
            kept += size
        else:
            dropped[why] += size
    return kept, dropped


def path(explanation: Explanation, element: int, most: int | None = None) -> str:
    """Return an element and its ancestors with their first names: `body > div.entry > p`."""
    names: list[str] = []
    while element >= 0:
        tag, element, tokens = explanation.document.elements[element]
        named = [token if token[0] == "#" else f".{token}" for token in tokens[:_NAMES]]
        names.append(escape_controls(tag + "".join(named)))
    shown = names if most is None else names[:most]
    return ("… > " if len(shown) < len(names) else "") + " > ".join(reversed(shown))


def main_by_page_alone(explanation: Explanation, main: Main) -> str:
    """Return the path of the element that this page would choose without the site's votes."""
    return "none" if main.alone is None else path(explanation, main.alone)
