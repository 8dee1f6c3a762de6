"""Split text into words, like the thesis (algorithm 3), but for any language.

    "Café №1, 東京!" ──▶ café 1 東 京          ascii_only ──▶ caf 1

The thesis removes characters that are not ASCII; we keep them. Where the thesis has punctuation and
control characters, we use Unicode's categories P (punctuation), S (symbols) and C (controls). These
characters separate words, like white space.
"""

from __future__ import annotations

import re
from unicodedata import category

_ALONE = re.compile(  # scripts without spaces between words: each character is a word
    "(["
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "])"
)


class _ToSpace(dict[int, str]):
    """A table for `str.translate` that is filled when a character first occurs."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = " " if category(character)[0] in "PSC" else character
        return self[code]


_TO_SPACE = _ToSpace()


def split_words(text: str, *, ascii_only: bool = False) -> list[str]:
    """Return the words of a text in order, in lower case.

    Args:
        text: any text.
        ascii_only: delete all non-ASCII characters, and words that consist only of such characters,
            as the thesis does.
    """
    found = text.translate(_TO_SPACE).lower()
    if not found.isascii():
        if ascii_only:
            return " ".join(found.split()).encode("ascii", "ignore").decode("ascii").split()
        found = _ALONE.sub(r" \1 ", found)
    return found.split()
