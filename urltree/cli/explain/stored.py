"""Print the stored row of a page. A row has neither the HTML nor the text of the page."""

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
    """Print one line for each field of the row that has a value, or one line of JSON."""
    record = _record(url, row)
    if as_json:
        click.echo(terminal_json(record))
        return
    for name, value in record.items():
        if value is not None:
            click.echo(f"{name:12} {escape_controls(_text(value))}")


def _record(url: str, row: Row) -> dict[str, Any]:
    verdict = row.last_verdict
    reasons = Counter(
        Kind(kind).label if kind else "repeated"
        for kind, is_boilerplate in zip(
            verdict.kinds or bytes(len(verdict.boilerplate)), verdict.boilerplate, strict=True
        )
        if is_boilerplate
    )
    return {
        "url": url,
        "origin": row.origin,
        "time": _time(row.time),
        "branch": list(row.branch),
        "heuristic": f"{verdict.heuristic} {verdict.version}",
        "revision": verdict.revision,
        "page_kind": verdict.page_kind and verdict.page_kind.label,
        "left_out": row.left_out,
        "depth": verdict.depth,
        "support": verdict.support,
        "blocks": len(verdict.boilerplate),
        "content": len(verdict.boilerplate) - reasons.total(),
        "boilerplate": dict(reasons.most_common()),
        "counts": None if verdict.counts is None else list(verdict.counts),
    }


def _time(microseconds: int) -> str | None:
    """Return a time in ISO 8601; None if the time is 0 (unknown) or after the year 9999."""
    try:
        return (_EPOCH + timedelta(microseconds=microseconds)).isoformat() if microseconds else None
    except OverflowError:
        return None


def _text(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{name} {number:,}" for name, number in value.items()) or "none"
        case list():
            return " ".join(map(str, value))
        case bool():
            return "yes" if value else "no"
    return str(value)
