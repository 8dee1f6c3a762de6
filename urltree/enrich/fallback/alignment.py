"""Find the blocks of a page that the text of an extractor contains.

An extractor returns text without positions. The text contains a block if the letters of the block
follow each other in the text. A short block, such as "Share", must be a whole line or table cell of
the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from urltree.html.blocks import TextBlock, normalise_text

_LETTERS = 30  # a block with fewer letters must be a whole line or cell
_PARTS = re.compile(r"[\n|]+")  # separators of lines and of table cells


def align_blocks(text: str, blocks: Sequence[TextBlock]) -> str:
    """Return one digit for each block: 1 if the text contains the block, else 0.

    A block without letters, such as a date or a dash, gets the digit of the block before it.
    """
    parts = [normalise_text(part) for part in _PARTS.split(text)]
    lines, joined = set(parts), "".join(parts)
    digits = ""
    for block in blocks:
        letters = normalise_text(block.text)
        if letters:
            is_contained = letters in lines or (len(letters) >= _LETTERS and letters in joined)
            digits += "1" if is_contained else "0"
        else:
            digits += digits[-1:] or "0"
    return digits
