"""Print the table of `urltree explain`: a row for each block, then a summary of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from urltree.cli.explain import facts
from urltree.cli.explain.terminal import escape_controls, shorten
from urltree.cli.tables import Column, TableRow, print_table
from urltree.output.explanation import Explanation, Main

_WIDTH = 200  # characters of a line if standard output is no terminal
_TEXT = 60  # characters of a block's text that are shown
_ELEMENTS = 3  # elements of a path that are shown, counted from the innermost
_COLUMNS = (
    Column("#", is_number=True),
    Column("verdict"),
    Column("where"),
    Column("count", is_number=True),
    Column("words", is_number=True),
    Column("links", is_number=True),
    Column("path", is_folded=True),
    Column("text", is_folded=True),
)


def write_table(explanation: Explanation) -> None:
    """Print a row for each block, then the summary of the page; content is printed in bold."""
    rows = [
        TableRow(_cells(explanation, position), "dim" if is_boilerplate else "bold")
        for position, is_boilerplate in enumerate(explanation.verdict.boilerplate)
    ]
    print_table(_COLUMNS, rows, _WIDTH)
    click.echo("\n".join(f"{name:8} {line}" for name, line in _summary(explanation)))


def _cells(explanation: Explanation, position: int) -> tuple[str, ...]:
    block = explanation.document.blocks[position]
    counts = facts.counts(explanation, position)
    return (
        str(position),
        facts.reason(explanation, position) or "content",
        facts.location(explanation, position) or "",
        " ".join(f"{counted}/{support}" for counted, support in counts),
        str(explanation.words[position]),
        f"{block.link_share:.0%}" if block.link_share else "",
        facts.path(explanation, block.element, _ELEMENTS),
        shorten(block.text, _TEXT),
    )


def _summary(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield the lines of the summary, each as a pair of its name and its text."""
    kept, dropped = facts.count_words(explanation)
    verdict, kind = explanation.verdict, explanation.verdict.page_kind
    url = escape_controls(explanation.document.url or "without URL")
    yield "page", url + (f", {kind.label}" if kind else "")
    nodes = ", ".join(f"{name} {support:,}" for name, support, _ in facts.nodes(explanation))
    yield "counts", f"documents with the block / all documents, at {escape_controls(nodes)}"
    node = explanation.nodes[verdict.depth]
    name = escape_controls(node.name)
    yield "judged", f"by {explanation.heuristic} at {name}, {node.support:,} documents"
    if explanation.title is not None:
        text = shorten(explanation.document.blocks[explanation.title].text, _TEXT)
        yield "title", f"block {explanation.title}: {text}"
    main = explanation.main
    if main is not None:
        yield "main", f"{facts.path(explanation, main.element)}: {_chosen_by(explanation, main)}"
    yield "kept", f"{kept:,} of {sum(explanation.words):,} words{_list_dropped(dropped)}"


def _chosen_by(explanation: Explanation, main: Main) -> str:
    """Describe how the main element was chosen: from this page, or from other pages of the site."""
    usual = f"{main.votes:,} of {main.voters:,} pages of the site have their main element there"
    if main.element == main.alone:
        return f"chosen by this page; {usual}" if main.voters else "chosen by this page"
    alone = facts.main_by_page_alone(explanation, main)
    return f"chosen by the site's votes: {usual}; this page alone would choose {alone}"


def _list_dropped(dropped: Counter[str]) -> str:
    parts = [f"{words:,} {reason}" for reason, words in dropped.most_common()]
    return f"; dropped {', '.join(parts)}" if parts else ""
