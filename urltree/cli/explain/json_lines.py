"""An explanation as JSON Lines: an object for the page, then one for each block."""

from __future__ import annotations

from typing import Any

import click

from urltree.cli.explain import facts
from urltree.cli.explain.terminal import json_line
from urltree.output.explanation import Explanation


def write_json_lines(said: Explanation) -> None:
    """The page first, then each block; texts are whole."""
    click.echo(json_line(_page_record(said)))
    for position, block in enumerate(said.document.blocks):
        record = {
            "position": position,
            "verdict": "boilerplate" if said.verdict.boilerplate[position] else "content",
            "reason": facts.reason(said, position),
            "where": facts.place(said, position),
            "counts": [counted for counted, _ in facts.counts(said, position)],
            "words": said.words[position],
            "link_share": block.link_share,
            "path": facts.path(said, block.element),
            "text": block.text,
        }
        click.echo(json_line(record))


def _page_record(said: Explanation) -> dict[str, Any]:
    main = said.main
    kept, dropped = facts.words(said)
    kind = said.verdict.page_kind
    return {
        "url": said.document.url,
        "domain": said.document.domain,
        "heuristic": said.heuristic,
        "page_kind": kind and kind.label,
        "nodes": [{"node": name, "support": support} for name, support, _ in facts.nodes(said)],
        "judged_at": said.nodes[said.verdict.depth].name,
        "title_block": said.title,
        "main": main and facts.path(said, main.element),
        "main_votes": main and main.votes,
        "main_voters": main and main.voters,
        "main_alone": main and facts.alone(said, main),
        "words": sum(said.words),
        "kept": kept,
        "dropped": dict(dropped),
    }
