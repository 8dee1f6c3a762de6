"""An explanation as a table for people; below it what holds for the page."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import click

from urltree.cli.explain import facts
from urltree.cli.explain.terminal import escape_controls, shorten
from urltree.output.explanation import Explanation, Main

_WIDTH = 200  # where a table is written to a file
_TEXT = 60  # characters of a block's text
_ELEMENTS = 3  # of a tag path, the innermost
_MISSING = "rich is missing: pip install 'urltree[evaluation]', or --format jsonl"


def write_table(explanation: Explanation) -> None:
    """A line for each block, what is kept in bold; below it what holds for the page."""
    try:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - comes with an extra
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ModuleNotFoundError:
        raise click.ClickException(_MISSING) from None
    table = Table(box=SIMPLE_HEAD)
    for name in ("#", "verdict", "where", "count", "words", "links"):
        is_number = name not in {"verdict", "where"}
        table.add_column(name, justify="right" if is_number else "left", no_wrap=True)
    table.add_column("path", overflow="fold")
    table.add_column("text", overflow="fold")
    for position, is_boilerplate in enumerate(explanation.judgement.boilerplate):
        cells = map(Text, _cells(explanation, position))  # no markup in what pages say
        table.add_row(*cells, style="dim" if is_boilerplate else "bold")
    Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False).print(table)
    click.echo("\n".join(f"{name:8} {line}" for name, line in _summary(explanation)))


def _cells(explanation: Explanation, position: int) -> tuple[str, ...]:
    block = explanation.document.blocks[position]
    return (
        str(position),
        facts.reason(explanation, position) or "content",
        facts.location(explanation, position) or "",
        " ".join(
            f"{counted}/{support}" for counted, support in facts.counts(explanation, position)
        ),
        str(explanation.words[position]),
        f"{block.link_share:.0%}" if block.link_share else "",
        facts.path(explanation, block.element, _ELEMENTS),
        shorten(block.text, _TEXT),
    )


def _summary(explanation: Explanation) -> Iterator[tuple[str, str]]:
    kept, dropped = facts.count_words(explanation)
    judgement, kind = explanation.judgement, explanation.judgement.page_kind
    yield (
        "page",
        escape_controls(explanation.document.url or "without URL")
        + (f", {kind.label}" if kind else ""),
    )
    nodes = ", ".join(f"{name} {support:,}" for name, support, _ in facts.nodes(explanation))
    yield "counts", f"documents with the block / all, at {escape_controls(nodes)}"
    node = explanation.nodes[judgement.depth]
    yield (
        "judged",
        f"by {explanation.heuristic} at {escape_controls(node.name)}, {node.support:,} documents",
    )
    if explanation.title is not None:
        text = shorten(explanation.document.blocks[explanation.title].text, _TEXT)
        yield "title", f"block {explanation.title}: {text}"
    main = explanation.main
    if main is not None:
        yield "main", f"{facts.path(explanation, main.element)}: {_found(explanation, main)}"
    yield "kept", f"{kept:,} of {sum(explanation.words):,} words{_listed(dropped)}"


def _found(explanation: Explanation, main: Main) -> str:
    usual = f"{main.votes:,} of {main.voters:,} pages of the site have theirs there"
    if main.element == main.alone:
        return f"found by this page; {usual}" if main.voters else "found by this page"
    alone = facts.main_by_page_alone(explanation, main)
    return f"found by the site's votes: {usual}; this page alone says {alone}"


def _listed(dropped: Counter[str]) -> str:
    parts = [f"{words:,} {reason}" for reason, words in dropped.most_common()]
    return f"; dropped {', '.join(parts)}" if parts else ""
