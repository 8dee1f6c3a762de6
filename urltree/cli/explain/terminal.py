"""Texts of pages, made safe to print: without control characters, on one line, not too long."""

from __future__ import annotations

import re
from typing import Any

import orjson

# Control characters that JSON does not escape: DEL, C1 (terminals obey some of them), and the
# characters that change the direction of writing.
_NOT_ESCAPED_BY_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """Replace every character that is not printable by its escape sequence."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(text: str, width: int) -> str:
    """Return the text as one safe line of at most `width` characters."""
    line = escape_controls(" ".join(text[: 4 * width].split()))
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"


def terminal_json(record: dict[str, Any]) -> str:
    """Return a record as a line of JSON with whole texts; control characters are escaped."""
    written = orjson.dumps({name: value for name, value in record.items() if value is not None})
    return _NOT_ESCAPED_BY_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", written.decode())
