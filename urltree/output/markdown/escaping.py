r"""Escape text, so that it is not read as emphasis, code, link, image, HTML, entity or block.

A backslash is added only where a renderer would otherwise not show the character itself. The rules
are those of CommonMark 0.31 and of GitHub's tables and strikethrough. `snake_case`, `a < b`, `AT&T`
and `#tag` are not changed. Addresses are not changed either, because CommonMark does not turn them
into links.
"""

from __future__ import annotations

import re

_INLINE = re.compile(
    r"[`*\[~]"  # code, emphasis, links and images, strikethrough
    r"|<(?!\s|\Z)"  # HTML, <https://…>
    r"|(?<![^\W_])_|_(?![^\W_])"  # emphasis by an underscore that is not inside a word
    r"|&(?=#?\w+;)"  # entities
    r"|\\(?=[!-/:-@\[-`{-~]|\Z)"  # escape of the next character, hard line break
)
_AT_LINE_START = re.compile(
    r"(?:[-+=](?=[-+=:|\s]|\Z)"  # list items, rules, underlines of headings, second lines of tables
    r"|[>|]|:(?=-)"  # quotes; second lines of tables
    r"|\#(?=\#{0,5}(?:\s|\Z)))"  # headings
)
_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)](?:\s|\Z))")  # items of ordered lists
_BACKTICKS = re.compile("`+")


def escape_inline(text: str) -> str:
    """Escape text that is not at the start of a line; the lines of the text are joined."""
    return _INLINE.sub(r"\\\g<0>", " ".join(text.split()))


def escape_line(text: str) -> str:
    """Escape a line of a paragraph."""
    escaped = escape_inline(text)
    if _AT_LINE_START.match(escaped):
        return "\\" + escaped
    return _NUMBER.sub(r"\g<0>\\", escaped, count=1) if _NUMBER.match(escaped) else escaped


def escape_heading(text: str) -> str:
    """Escape the text of a heading; a renderer would remove an unescaped `#` at its end."""
    escaped = escape_inline(text)
    return escaped[:-1] + "\\#" if escaped.endswith("#") else escaped


def escape_cell(text: str) -> str:
    """Escape the text of a table cell."""
    return escape_inline(text).replace("|", "\\|")


def code_fence(code: str) -> str:
    """Return a fence for code: three backticks, or more if the code has a run of backticks."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(3, longest + 1)
