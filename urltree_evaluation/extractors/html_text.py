"""Plain text of HTML: for tools that answer with HTML, and for those that begin with all text."""

from __future__ import annotations

from urltree.html.tokenizer import tokenize


def html_text(html: str) -> str:
    """The text blocks of our tokenizer, one a line."""
    return "\n".join(block_texts(html))


def block_texts(html: str) -> list[str]:
    """The text of each block of our tokenizer, in order."""
    return [block.text for block in tokenize(html).blocks if block.text]
