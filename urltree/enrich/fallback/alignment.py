"""Which blocks of a page an extractor's text holds.

An extractor gives text, not places. A block is in it whose letters stand there in a row; a short
one, such as "Share", only where it is a line or a cell of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from urltree.html.blocks import TextBlock, normalise_text

_LETTERS = 30  # of a block from which it is looked for inside longer lines
_PARTS = re.compile(r"[\n|]+")  # lines, and cells of tables


def align_blocks(text: str, blocks: Sequence[TextBlock]) -> str:
    """One digit for each block: 1 where the text holds it, else 0.

    A block without letters, such as a date or a dash, is where the one before it is.
    """
    parts = [normalise_text(part) for part in _PARTS.split(text)]
    lines, joined = set(parts), "".join(parts)
    held = ""
    for block in blocks:
        letters = normalise_text(block.text)
        if letters:
            is_held = letters in lines or (len(letters) >= _LETTERS and letters in joined)
            held += "1" if is_held else "0"
        else:
            held += held[-1:] or "0"
    return held
