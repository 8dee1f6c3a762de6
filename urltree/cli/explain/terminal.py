"""What pages say, made safe for a terminal: nothing that it would obey, one line, not too long."""

from __future__ import annotations

import re
from typing import Any

import orjson

# what JSON lets stand: DEL, C1 with its escape sequences, and what turns the direction of writing
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """With an escape in the place of every character that does not print."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(text: str, width: int) -> str:
    """One safe line of at most so many characters."""
    line = escape_controls(" ".join(text[: 4 * width].split()))
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"


def terminal_json(record: dict[str, Any]) -> str:
    """A record as JSON whose texts are whole and safe."""
    written = orjson.dumps({name: value for name, value in record.items() if value is not None})
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", written.decode())
