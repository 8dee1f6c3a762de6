"""The parts of a page: text blocks, and the elements that contain them (paper, section 2).

A text block is text between two tags that are not inline. Two blocks are equal to the URL tree if
their *normalised* texts are equal: letters only, in lower case (paper, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import category, is_normalized, normalize

import xxhash


class Element(NamedTuple):
    """An element that contains at least one text block; it is stored once for all of its blocks.

    Attributes:
        tag: name of the tag in lower case.
        parent: index of the enclosing element in `TokenizedPage.elements`, -1 for the outermost.
        tokens: class names of the element, and its id as `#id`; without volatile tokens such as
            `post-123`.
    """

    tag: str
    parent: int
    tokens: tuple[str, ...]


class TextBlock(NamedTuple):
    """A text block with the features that heuristics need.

    Attributes:
        text: text with collapsed white space; inside `pre`, lines and spaces are kept.
        element: index of the innermost enclosing element that is not inline.
        heading: level of the heading that contains the block, 1 to 6; 0 outside headings.
        link_share: share of the characters that are inside links, from 0 to 1, with two decimals.
        hidden: whether an enclosing element has the attribute `hidden`, `aria-hidden=true`, or the
            style `display:none`.
        hash: `block_hash` of the text, 64 bits.
    """

    text: str
    element: int
    heading: int
    link_share: float
    hidden: bool
    hash: int


class TokenizedPage(NamedTuple):
    """The blocks, elements and metadata that the tokenizer found in a page.

    Attributes:
        blocks: text blocks in the order of the page.
        elements: all elements that contain a block; parents come before their children.
        blocks_over_cap: number of blocks that were dropped because the page has too many blocks.
        title: text of the first `<title>` outside svg, with collapsed white space.
        language: language in `<html lang>`.
        canonical: address in `<link rel=canonical>`.
        author: author in `<meta name=author>`.
        json_ld: texts of `application/ld+json` scripts, at most 256 KB together.
    """

    blocks: tuple[TextBlock, ...]
    elements: tuple[Element, ...]
    blocks_over_cap: int
    title: str | None
    language: str | None
    canonical: str | None
    author: str | None
    json_ld: tuple[str, ...]


def block_hash(text: str) -> int:
    """Return the XXH3-64 hash of the normalised text in UTF-8.

    A block without letters has the hash of the empty string. The paper's heuristics count such a
    block like any other block. If they always kept such blocks as content, F1 would fall by .009
    (measured).
    """
    return xxhash.xxh3_64_intdigest(normalise_text(text).encode())


NO_LETTERS = xxhash.xxh3_64_intdigest(b"")  # the hash of a block without letters


def block_hashes(texts: Sequence[str]) -> list[int]:
    """Return the `block_hash` of each block of a page.

    All texts are joined by NULs and normalised together. This takes .1 ms for a page, and to
    normalise each text alone takes .36 ms.
    """
    page = "\0".join(texts)
    if page.count("\0") != len(texts) - 1:
        return [block_hash(text) for text in texts]
    return [xxhash.xxh3_64_intdigest(text) for text in _normalise_text(page).encode().split(b"\0")]


def normalise_text(text: str) -> str:
    """Return the letters and marks of a text (categories L and M) in NFC and lower case.

    Each character is converted to lower case alone, so that its position in a word does not matter
    (Greek final sigma). NFC is applied again at the end, because a mark may now follow another
    letter. To normalise the result again changes nothing. Characters that are not in Python's
    Unicode tables are dropped.
    """
    return _normalise_text(text.replace("\0", ""))


def _normalise_text(text: str) -> str:
    """Normalise a text as `normalise_text` does, but keep NULs, which separate blocks."""
    if text.isascii():
        return text.encode().translate(_LOWER, _ASCII_OTHERS).decode()
    utf8 = normalize("NFC", text).encode(errors="ignore")  # lone surrogates are dropped
    some_left = _COMMON_OTHERS.sub("", utf8.translate(_LOWER, _ASCII_OTHERS).decode())
    if some_left.replace("\0", "").isalpha() and "Σ" not in some_left:
        letters = some_left.lower()
    else:
        letters = _NOT_ASCII.sub(_only_letters, some_left)
    return letters if is_normalized("NFC", letters) else normalize("NFC", letters)


class _Letters(dict[int, str | None]):
    """A table for `str.translate`: letters and marks in lower case, None for other characters.

    An entry is added when its character first occurs. The table takes half the time of a regular
    expression with Unicode classes (measured).
    """

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        self[code] = character.lower() if category(character)[0] in "LM" else None
        return self[code]


def _only_letters(run: re.Match[str]) -> str:
    return run[0].translate(_LETTERS)


# ASCII is translated as bytes. Then one regular expression removes common ranges of punctuation,
# digits and symbols. On 19 of 20 pages only letters remain, and one call of lower() is enough. On
# other pages, `_LETTERS` translates the remaining characters that are not ASCII.
_LOWER = bytes(range(256)).lower()
_ASCII_OTHERS = bytes(code for code in range(1, 128) if not chr(code).isalpha())
_COMMON_OTHERS = re.compile(
    "[\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u2070\u20a0-\u20cf\u2190-\u2bff"
    "\u3000-\u3004\u3007-\u3020\uff00-\uff20\U0001f000-\U0001faff]+"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LETTERS = _Letters()
