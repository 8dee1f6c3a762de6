r"""Text in which nothing is markup: no emphasis, code, link, image, HTML, entity or block.

Backslashes stand only where a reader of CommonMark 0.31, GitHub's tables or strikethrough would
see more than the character: `snake_case`, `a < b`, `AT&T` and `#tag` stay as they are. Bare
addresses stay, too: CommonMark makes no links of them.
"""

from __future__ import annotations

import re

_INLINE = re.compile(
    r"[`*\[~]"  # code, emphasis, links and images, strikethrough
    r"|<(?!\s|\Z)"  # HTML, <https://…>
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside a word it is no emphasis
    r"|&(?=#?\w+;)"  # entities
    r"|\\(?=[!-/:-@\[-`{-~]|\Z)"  # would escape what follows, or break the line
)
_AT_LINE_START = re.compile(
    r"(?:[-+=](?=[-+=:|\s]|\Z)"  # items, rules, underlines of headings, second lines of tables
    r"|[>|]|:(?=-)"  # quotes; second lines of tables
    r"|\#(?=\#{0,5}(?:\s|\Z)))"  # headings
)
_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)](?:\s|\Z))")  # ordered items
_BACKTICKS = re.compile("`+")


def escape_inline(text: str) -> str:
    """Text that does not stand at the start of a line; lines become one."""
    return _INLINE.sub(r"\\\g<0>", " ".join(text.split()))


def escape_line(text: str) -> str:
    """A line of a paragraph."""
    escaped = escape_inline(text)
    if _AT_LINE_START.match(escaped):
        return "\\" + escaped
    return _NUMBER.sub(r"\g<0>\\", escaped, count=1) if _NUMBER.match(escaped) else escaped


def escape_heading(text: str) -> str:
    """The text of a heading: a `#` at its end would close it."""
    escaped = escape_inline(text)
    return escaped[:-1] + "\\#" if escaped.endswith("#") else escaped


def escape_cell(text: str) -> str:
    """The text of a table's cell."""
    return escape_inline(text).replace("|", "\\|")


def code_fence(code: str) -> str:
    """Backticks around code: at least three, and more than it has in a row."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(3, longest + 1)
