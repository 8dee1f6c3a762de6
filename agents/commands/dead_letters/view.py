"""Output of a dead letter, as text for a terminal or as JSON."""

from __future__ import annotations

import base64
from typing import Any

from agents.commands.terminal import escape_control
from models.dead_letter import DeadLetter

PREVIEW = 2_000  # largest number of bytes of a key, a value or a header that are shown


def as_json(letter: DeadLetter) -> dict[str, Any]:
    """Return all fields of a dead letter; bytes are encoded in base64."""
    key, value, headers = letter.original
    return {
        **{name: getattr(letter, name) for name in ("origin", "stage", "reason", "message")},
        "topic": letter.topic,
        "offsets": letter.offsets,
        "key_base64": _base64(key),
        "value_base64": _base64(value),
        "headers": [[name, _base64(content)] for name, content in headers],
    }


def as_text(letter: DeadLetter) -> str:
    """Return a dead letter as text with the beginning of its value, without control characters."""
    key, value, headers = letter.original
    lines = [
        *(
            f"{name:8} {escape_control(getattr(letter, name))}"
            for name in ("origin", "stage", "reason")
        ),
        f"{'message':8} {escape_control(letter.message)}",
        f"{'topic':8} {letter.topic}",
        *(["offsets  {} to {}".format(*letter.offsets)] if letter.offsets is not None else []),
        f"{'key':8} {_preview(key)}",
        *(f"{'header':8} {escape_control(name)}: {_preview(content)}" for name, content in headers),
        f"{'value':8} {'null' if value is None else f'{len(value):,} bytes'}",
        _preview(value),
    ]
    return "\n".join(lines)


def _preview(content: bytes | None) -> str:
    if content is None:
        return "null"
    cut = content[:PREVIEW].decode(errors="backslashreplace")
    return escape_control(cut) + ("…" if len(content) > PREVIEW else "")


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()
