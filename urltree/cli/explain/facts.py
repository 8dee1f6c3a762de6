"""Facts about a page, its blocks and its elements, for the table and for the JSON Lines."""

from __future__ import annotations

from collections import Counter

from urltree.cli.explain.terminal import escape_controls
from urltree.output.explanation import Explanation, Main, NodeCounts

_NAMES = 2  # number of class and id tokens that are shown for an element


def reason(explanation: Explanation, position: int) -> str | None:
    """Return the reason why a block is boilerplate; None for content.

    For the heuristics of the paper, the reason is always `repeated`.
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
    """Return the root, the node of the verdict, and all nodes of the branch with other pages."""
    return [
        node
        for depth, node in enumerate(explanation.nodes)
        if node.support > 1 or depth in (0, explanation.verdict.depth)
    ]


def counts(explanation: Explanation, position: int) -> list[tuple[int, int]]:
    """Return two numbers for each node of `nodes`: documents with the block, and all documents."""
    return [(counted[position], support) for _, support, counted in nodes(explanation)]


def count_words(explanation: Explanation) -> tuple[int, Counter[str]]:
    """Return the number of kept words, and the number of dropped words for each reason."""
    kept, dropped = 0, Counter[str]()
    for position, size in enumerate(explanation.words):
        why = reason(explanation, position)
        if why is None:
            kept += size
        else:
            dropped[why] += size
    return kept, dropped


def path(explanation: Explanation, element: int, most: int | None = None) -> str:
    """Return the path of an element with class names and ids, such as `body > div.entry > p`.

    Args:
        explanation: explanation of the page.
        element: index of the element.
        most: largest number of elements in the path, counted from the innermost; None for all.
    """
    names: list[str] = []
    while element >= 0:
        tag, element, tokens = explanation.document.elements[element]
        named = [token if token[0] == "#" else f".{token}" for token in tokens[:_NAMES]]
        names.append(escape_controls(tag + "".join(named)))
    shown = names if most is None else names[:most]
    return ("… > " if len(shown) < len(names) else "") + " > ".join(reversed(shown))


def main_by_page_alone(explanation: Explanation, main: Main) -> str:
    """Return the path of the main element that would be chosen from this page alone."""
    return "none" if main.alone is None else path(explanation, main.alone)
