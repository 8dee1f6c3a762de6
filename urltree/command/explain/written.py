"""An explanation as a table for people, or as JSON Lines: one for the page, one for each block."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import click

from urltree.command.explain.terminal import json_line, safe, shortened
from urltree.explanation import Explanation, Main, NodeCounts

Format = Literal["table", "jsonl"]

_WIDTH = 200  # where a table is written to a file
_TEXT = 60  # characters of a block's text
_ELEMENTS = 3  # of a tag path, the innermost
_NAMES = 2  # of an element
_MISSING = "rich is missing: pip install 'urltree[evaluation]', or --format jsonl"


def write_table(said: Explanation) -> None:
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
    for position, block in enumerate(said.document.blocks):
        cells = (
            str(position),
            _reason(said, position) or "content",
            _where(said, position) or "",
            " ".join(f"{counted}/{of}" for counted, of in _counts(said, position)),
            str(said.words[position]),
            f"{block.link_share:.0%}" if block.link_share else "",
            _path(said, block.element, _ELEMENTS),
            shortened(block.text, _TEXT),
        )
        is_kept = not said.judgement.boilerplate[position]
        table.add_row(*map(Text, cells), style="bold" if is_kept else "dim")
    Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False).print(table)
    click.echo("\n".join(f"{name:8} {line}" for name, line in _summary(said)))


def write_json_lines(said: Explanation) -> None:
    """The page first, then each block; texts are whole."""
    click.echo(json_line(_page_record(said)))
    for position, block in enumerate(said.document.blocks):
        counts = _counts(said, position)
        record = {
            "position": position,
            "verdict": "boilerplate" if said.judgement.boilerplate[position] else "content",
            "reason": _reason(said, position),
            "where": _where(said, position),
            "counts": [counted for counted, _ in counts],
            "words": said.words[position],
            "link_share": block.link_share,
            "path": _path(said, block.element),
            "text": block.text,
        }
        click.echo(json_line(record))


FORMATS: Mapping[Format, Callable[[Explanation], None]] = {
    "table": write_table,
    "jsonl": write_json_lines,
}


def _page_record(said: Explanation) -> dict[str, Any]:
    main = said.main
    kept, dropped = _words(said)
    kind = said.judgement.page_kind
    return {
        "url": said.document.url,
        "domain": said.document.domain,
        "heuristic": said.heuristic,
        "page_kind": kind and kind.label,
        "nodes": [{"node": name, "support": support} for name, support, _ in _nodes(said)],
        "judged_at": said.nodes[said.judgement.depth].name,
        "title_block": said.title,
        "main": main and _path(said, main.element),
        "main_votes": main and main.votes,
        "main_voters": main and main.voters,
        "main_alone": main and _alone(said, main),
        "words": sum(said.words),
        "kept": kept,
        "dropped": dict(dropped),
    }


def _summary(said: Explanation) -> Iterator[tuple[str, str]]:
    kept, dropped = _words(said)
    judgement, kind = said.judgement, said.judgement.page_kind
    yield "page", safe(said.document.url or "without URL") + (f", {kind.label}" if kind else "")
    nodes = ", ".join(f"{name} {support:,}" for name, support, _ in _nodes(said))
    yield "counts", f"documents with the block / all, at {safe(nodes)}"
    node = said.nodes[judgement.depth]
    yield "judged", f"by {said.heuristic} at {safe(node.name)}, {node.support:,} documents"
    if said.title is not None:
        text = shortened(said.document.blocks[said.title].text, _TEXT)
        yield "title", f"block {said.title}: {text}"
    if said.main is not None:
        yield "main", f"{_path(said, said.main.element)}: {_found(said, said.main)}"
    yield "kept", f"{kept:,} of {sum(said.words):,} words{_listed(dropped)}"


def _found(said: Explanation, main: Main) -> str:
    usual = f"{main.votes:,} of {main.voters:,} pages of the site have theirs there"
    if main.element == main.alone:
        return f"found by this page; {usual}" if main.voters else "found by this page"
    return f"found by the site's votes: {usual}; this page alone says {_alone(said, main)}"


def _alone(said: Explanation, main: Main) -> str:
    return "none" if main.alone is None else _path(said, main.alone)


def _words(said: Explanation) -> tuple[int, Counter[str]]:
    """Words that are kept, and those that are dropped by reason."""
    kept, dropped = 0, Counter[str]()
    for position, words in enumerate(said.words):
        reason = _reason(said, position)
        if reason is None:
            kept += words
        else:
            dropped[reason] += words
    return kept, dropped


def _listed(dropped: Counter[str]) -> str:
    parts = [f"{words:,} {reason}" for reason, words in dropped.most_common()]
    return f"; dropped {', '.join(parts)}" if parts else ""


def _reason(said: Explanation, position: int) -> str | None:
    """Why a block is boilerplate: the paper's heuristics know repetition alone."""
    if not said.judgement.boilerplate[position]:
        return None
    kind = said.kind(position)
    return kind.label if kind else "repeated"


def _where(said: Explanation, position: int) -> str | None:
    if position == said.title:
        return "title"
    return "main" if said.inside[position] else None


def _nodes(said: Explanation) -> list[NodeCounts]:
    """The root, the node that judged, and those with more than this page."""
    return [
        node
        for depth, node in enumerate(said.nodes)
        if node.support > 1 or depth in (0, said.judgement.depth)
    ]


def _counts(said: Explanation, position: int) -> list[tuple[int, int]]:
    return [(counts[position], support) for _, support, counts in _nodes(said)]


def _path(said: Explanation, element: int, most: int | None = None) -> str:
    """An element and those around it with their first names: `body > div.entry > p`."""
    names: list[str] = []
    while element >= 0:
        tag, element, tokens = said.document.elements[element]
        named = [token if token[0] == "#" else f".{token}" for token in tokens[:_NAMES]]
        names.append(safe(tag + "".join(named)))
    shown = names if most is None else names[:most]
    return ("… > " if len(shown) < len(names) else "") + " > ".join(reversed(shown))
