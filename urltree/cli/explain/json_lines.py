"""Print an explanation as JSON Lines: one object for the page, then one for each block."""

from __future__ import annotations

from typing import Any

import click

from urltree.cli.explain import facts
from urltree.cli.explain.terminal import terminal_json
from urltree.output.explanation import Explanation


def write_json_lines(explanation: Explanation) -> None:
    """Print one object for the page, then one object with the whole text for each block."""
    click.echo(terminal_json(_page_record(explanation)))
    for position, block in enumerate(explanation.document.blocks):
        record = {
            "position": position,
            "verdict": "boilerplate" if explanation.verdict.boilerplate[position] else "content",
            "reason": facts.reason(explanation, position),
            "where": facts.location(explanation, position),
            "counts": [counted for counted, _ in facts.counts(explanation, position)],
            "words": explanation.words[position],
            "link_share": block.link_share,
            "path": facts.path(explanation, block.element),
            "text": block.text,
        }
        click.echo(terminal_json(record))


def _page_record(explanation: Explanation) -> dict[str, Any]:
    main = explanation.main
    kept, dropped = facts.count_words(explanation)
    kind = explanation.verdict.page_kind
    return {
        "url": explanation.document.url,
        "domain": explanation.document.domain,
        "heuristic": explanation.heuristic,
        "page_kind": kind and kind.label,
        "nodes": [
            {"node": name, "support": support} for name, support, _ in facts.nodes(explanation)
        ],
        "judged_at": explanation.nodes[explanation.verdict.depth].name,
        "title_block": explanation.title,
        "main": main and facts.path(explanation, main.element),
        "main_votes": main and main.votes,
        "main_voters": main and main.voters,
        "main_alone": main and facts.main_by_page_alone(explanation, main),
        "words": sum(explanation.words),
        "kept": kept,
        "dropped": dict(dropped),
    }
