"""What a page is made of: text blocks and the elements they stand in (paper, section 2).

A text block is text delimited by at least one tag that is not inline. Two blocks are the same
to the tree if their *normalised* text is: letters only, lower case (paper, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import category, is_normalized, normalize

import xxhash


class Element(NamedTuple):
    """An element of a page that some block stands in, kept once however many blocks point at it.

    Attributes:
        tag: lower case.
        parent: index of the enclosing element in the page's table, -1 at the top.
        tokens: its class and id tokens, volatile ones such as `post-123` left out.
    """

    tag: str
    parent: int
    tokens: tuple[str, ...]


class TextBlock(NamedTuple):
    """One text block, with what evidence needs; its position is its index in the page.

    Attributes:
        text: as a reader sees it: white space collapsed, lines kept inside `pre`.
        element: index into the page's elements of the innermost delimiting element.
        heading: 1 to 6 inside h1 to h6, else 0.
        link_share: share of its characters that stand inside links, 0 to 1, two decimals.
        hidden: inside `hidden`, `aria-hidden=true` or an inline `display:none`.
        hash: `block_hash` of its text, 64 bits.
    """

    text: str
    element: int
    heading: int
    link_share: float
    hidden: bool
    hash: int


class TokenizedPage(NamedTuple):
    """A page taken apart by the tokenizer.

    Attributes:
        blocks: in document order.
        elements: every element that a block's path needs; parents stand before children.
        blocks_over_cap: blocks beyond the cap, counted and dropped.
        title: the first `<title>` outside svg, white space collapsed.
        language: `<html lang>`; canonical: `<link rel=canonical>`; author: `<meta name=author>`.
        json_ld: bodies of `application/ld+json` scripts, up to 256 KB together.
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
    """XXH3-64 of the normalised text in UTF-8.

    A block without letters has the hash of the empty string, which the paper's heuristics count
    like any other (measured in issue 3: keeping such blocks instead costs .009 F1).
    """
    return xxhash.xxh3_64_intdigest(normalise_text(text).encode())


NO_LETTERS = xxhash.xxh3_64_intdigest(b"")  # hash of a block without letters


def block_hashes(texts: Sequence[str]) -> list[int]:
    """The `block_hash` of each block of a page.

    All are normalised as one text, NULs between them: .36 ms a page block by block, .1 so.
    """
    page = "\0".join(texts)
    if page.count("\0") != len(texts) - 1:
        return [block_hash(text) for text in texts]
    return [xxhash.xxh3_64_intdigest(text) for text in _normalise_text(page).encode().split(b"\0")]


def normalise_text(text: str) -> str:
    """NFC, categories L and M only, lower case: what makes two blocks the same to the tree.

    Lower case character by character, so that a letter's place in a word does not count (Greek
    final sigma), and NFC again, since a mark may now follow a letter that it did not follow
    before. Normalising twice changes nothing. Characters younger than Python's Unicode tables
    have no category yet and do not count.
    """
    return _normalise_text(text.replace("\0", ""))


def _normalise_text(text: str) -> str:
    """As `normalise_text`, but for NULs, which are kept: they separate the blocks of a page."""
    if text.isascii():
        return text.encode().translate(_LOWER, _ASCII_OTHERS).decode()
    utf8 = normalize("NFC", text).encode(errors="ignore")  # lone surrogates are no letters
    some_left = _COMMON_OTHERS.sub("", utf8.translate(_LOWER, _ASCII_OTHERS).decode())
    if some_left.replace("\0", "").isalpha() and "Σ" not in some_left:
        letters = some_left.lower()
    else:
        letters = _NOT_ASCII.sub(_only_letters, some_left)
    return letters if is_normalized("NFC", letters) else normalize("NFC", letters)


class _Letters(dict[int, str | None]):
    """For `str.translate`: a letter or mark to its lower case, all else to nothing.

    Filled as characters are met. Half the time of a regex of Unicode classes (measured).
    """

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        self[code] = character.lower() if category(character)[0] in "LM" else None
        return self[code]


def _only_letters(run: re.Match[str]) -> str:
    return run[0].translate(_LETTERS)


# ASCII goes by bytes; punctuation, digits and symbols of whole ranges by one regex; what is left
# is letters alone on 19 of 20 pages, which lower() does at once. The rest goes by character.
_LOWER = bytes(range(256)).lower()
_ASCII_OTHERS = bytes(code for code in range(1, 128) if not chr(code).isalpha())
_COMMON_OTHERS = re.compile(
    "[\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u2070\u20a0-\u20cf\u2190-\u2bff"
    "\u3000-\u3004\u3007-\u3020\uff00-\uff20\U0001f000-\U0001faff]+"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LETTERS = _Letters()
