"""What a word is: the sequence that the thesis compares (algorithm 3), for any language.

    "Café №1, 東京!" ──▶ café 1 東 京          ascii_only ──▶ caf 1

The thesis removes what is not ASCII; ours keeps it, and puts what it calls punctuation and control
characters into words: Unicode's categories P (punctuation), S (symbols) and C (controls). They part
words, as white space does.
"""

from __future__ import annotations

import re
from unicodedata import category

_ALONE = re.compile(  # written without spaces: a character is a word (issue 5, "Metrics")
    "(["
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "])"
)


class _ToSpace(dict[int, str]):
    """For `str.translate`: a character by its code, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = " " if category(character)[0] in "PSC" else character
        return self[code]


_TO_SPACE = _ToSpace()


def split_words(text: str, *, ascii_only: bool = False) -> list[str]:
    """The words of a text in order, in lower case.

    Args:
        text: any.
        ascii_only: the thesis' variant: characters that are not ASCII are deleted from the words,
            and words without others vanish.
    """
    found = text.translate(_TO_SPACE).lower()
    if not found.isascii():
        if ascii_only:
            return " ".join(found.split()).encode("ascii", "ignore").decode("ascii").split()
        found = _ALONE.sub(r" \1 ", found)
    return found.split()
