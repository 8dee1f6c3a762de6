r"""Escaping, so that no text is read as emphasis, code, link, image, HTML, entity or block.

Backslashes are added only where a reader of CommonMark 0.31, GitHub's tables or strikethrough would
not show the character itself: `snake_case`, `a < b`, `AT&T` and `#tag` stay as they are. Bare
addresses stay too: CommonMark makes no links of them.
"""

from __future__ import annotations

import re

_INLINE = re.compile(
    r"[`*\[~]"  # code, emphasis, links and images, strikethrough
    r"|<(?!\s|\Z)"  # HTML, <https://…>
    r"|(?<![^\W_])_|_(?![^\W_])"  # not inside a word, where it is no emphasis
    r"|&(?=#?\w+;)"  # entities
    r"|\\(?=[!-/:-@\[-`{-~]|\Z)"  # would escape the next character, or break the line
)
_AT_LINE_START = re.compile(
    r"(?:[-+=](?=[-+=:|\s]|\Z)"  # list items, rules, underlines of headings, second lines of tables
    r"|[>|]|:(?=-)"  # quotes; second lines of tables
    r"|\#(?=\#{0,5}(?:\s|\Z)))"  # headings
)
_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)](?:\s|\Z))")  # items of ordered lists
_BACKTICKS = re.compile("`+")


def escape_inline(text: str) -> str:
    """Escape text that is not at the start of a line; its lines are joined into one."""
    return _INLINE.sub(r"\\\g<0>", " ".join(text.split()))


def escape_line(text: str) -> str:
    """Escape a line of a paragraph."""
    escaped = escape_inline(text)
    if _AT_LINE_START.match(escaped):
        return "\\" + escaped
    return _NUMBER.sub(r"\g<0>\\", escaped, count=1) if _NUMBER.match(escaped) else escaped


def escape_heading(text: str) -> str:
    """Escape the text of a heading; a `#` at its end would otherwise be removed."""
    escaped = escape_inline(text)
    return escaped[:-1] + "\\#" if escaped.endswith("#") else escaped


def escape_cell(text: str) -> str:
    """Escape the text of a table cell."""
    return escape_inline(text).replace("|", "\\|")


def code_fence(code: str) -> str:
    """Return backticks around code: at least three, and more than the longest run in the code."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(3, longest + 1)
