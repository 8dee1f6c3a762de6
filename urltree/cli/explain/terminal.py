"""Make texts of pages safe to print on a terminal."""

from __future__ import annotations

import re
from typing import Any

import orjson

# Matches control characters that JSON does not escape: DEL, C1 (terminals execute some of them),
# and the characters that change the direction of writing.
_NOT_ESCAPED_BY_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """Replace every character that is not printable by its escape sequence."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(text: str, width: int) -> str:
    """Return a text as one line of at most `width` printable characters."""
    line = escape_controls(" ".join(text[: 4 * width].split()))
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"


def terminal_json(record: dict[str, Any]) -> str:
    """Return a record as a line of JSON without None; all control characters are escaped."""
    written = orjson.dumps({name: value for name, value in record.items() if value is not None})
    return _NOT_ESCAPED_BY_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", written.decode())
