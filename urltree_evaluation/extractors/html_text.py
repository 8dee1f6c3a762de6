"""Convert HTML to plain text, for tools that return HTML and for baselines that use all text."""

from __future__ import annotations

from urltree.html.tokenizer import tokenize


def html_text(html: str) -> str:
    """Return the text blocks of our tokenizer, one a line."""
    return "\n".join(block_texts(html))


def block_texts(html: str) -> list[str]:
    """Return the text of each block of our tokenizer, in order."""
    return [block.text for block in tokenize(html).blocks if block.text]
