"""What a state holds of a page: its row, which has neither HTML nor texts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from urltree.cli.explain.terminal import escape_controls, terminal_json
from urltree.heuristics.boilerplate import Kind
from urltree.site.row import Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write_row(url: str, row: Row, *, as_json: bool) -> None:
    """A line for each thing that is known, or one line of JSON."""
    record = _record(url, row)
    if as_json:
        click.echo(terminal_json(record))
        return
    for name, said in record.items():
        if said is not None:
            click.echo(f"{name:12} {escape_controls(_text(said))}")


def _record(url: str, row: Row) -> dict[str, Any]:
    said = row.said
    reasons = Counter(
        Kind(kind).label if kind else "repeated"
        for kind, is_boilerplate in zip(
            said.kinds or bytes(len(said.boilerplate)), said.boilerplate, strict=True
        )
        if is_boilerplate
    )
    return {
        "url": url,
        "origin": row.origin,
        "time": _time(row.time),
        "branch": list(row.branch),
        "heuristic": f"{said.heuristic} {said.version}",
        "revision": said.revision,
        "page_kind": said.page_kind and said.page_kind.label,
        "left_out": row.left_out,
        "depth": said.depth,
        "support": said.support,
        "blocks": len(said.boilerplate),
        "content": len(said.boilerplate) - reasons.total(),
        "boilerplate": dict(reasons.most_common()),
        "counts": None if said.counts is None else list(said.counts),
    }


def _time(microseconds: int) -> str | None:
    """None for a page that came before any that has a time, or for one beyond the calendar."""
    try:
        return (_EPOCH + timedelta(microseconds=microseconds)).isoformat() if microseconds else None
    except OverflowError:
        return None


def _text(said: object) -> str:
    match said:
        case dict():
            return ", ".join(f"{name} {number:,}" for name, number in said.items()) or "none"
        case list():
            return " ".join(map(str, said))
        case bool():
            return "yes" if said else "no"
    return str(said)
