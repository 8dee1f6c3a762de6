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
    """An element that contains at least one text block, stored once for all of its blocks.

    Attributes:
        tag: lower case.
        parent: index of the enclosing element in the page's table, -1 for the outermost.
        tokens: its class names, and its id as `#id`, without volatile ones such as `post-123`.
    """

    tag: str
    parent: int
    tokens: tuple[str, ...]


class TextBlock(NamedTuple):
    """A text block with the features that heuristics need; its position is its index in the page.

    Attributes:
        text: as shown to a reader: white space is collapsed, but lines are kept inside `pre`.
        element: index of the innermost enclosing element that is not inline.
        heading: 1 to 6 inside h1 to h6, else 0.
        link_share: share of the characters that are inside links, 0 to 1, two decimals.
        hidden: inside `hidden`, `aria-hidden=true` or an inline `display:none`.
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
        blocks: in document order.
        elements: all elements that contain a block; parents come before their children.
        blocks_over_cap: number of blocks that were dropped because the page has too many.
        title: the first `<title>` outside svg, white space collapsed.
        language: `<html lang>`.
        canonical: `<link rel=canonical>`.
        author: `<meta name=author>`.
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
    """Return the XXH3-64 hash of the normalised text in UTF-8.

    A block without letters has the hash of the empty string. The paper's heuristics count it like
    any other block: keeping such blocks as content instead costs .009 F1 (measured).
    """
    return xxhash.xxh3_64_intdigest(normalise_text(text).encode())


NO_LETTERS = xxhash.xxh3_64_intdigest(b"")  # the hash of a block without letters


def block_hashes(texts: Sequence[str]) -> list[int]:
    """Return the `block_hash` of each block of a page.

    All texts are normalised as one text, separated by NULs: that takes .1 ms a page, and block by
    block it takes .36 ms.
    """
    page = "\0".join(texts)
    if page.count("\0") != len(texts) - 1:
        return [block_hash(text) for text in texts]
    return [xxhash.xxh3_64_intdigest(text) for text in _normalise_text(page).encode().split(b"\0")]


def normalise_text(text: str) -> str:
    """Return the letters and marks of a text (categories L and M) in NFC and lower case.

    Each character is lowered on its own, so that its position in a word does not matter (Greek
    final sigma). NFC is applied again at the end, because a mark may now follow another letter.
    Normalising twice changes nothing. Characters that Python's Unicode tables do not know have no
    category, and are dropped.
    """
    return _normalise_text(text.replace("\0", ""))


def _normalise_text(text: str) -> str:
    """Normalise as `normalise_text` does, but keep NULs, which separate the blocks of a page."""
    if text.isascii():
        return text.encode().translate(_LOWER, _ASCII_OTHERS).decode()
    utf8 = normalize("NFC", text).encode(errors="ignore")  # drops lone surrogates
    some_left = _COMMON_OTHERS.sub("", utf8.translate(_LOWER, _ASCII_OTHERS).decode())
    if some_left.replace("\0", "").isalpha() and "Σ" not in some_left:
        letters = some_left.lower()
    else:
        letters = _NOT_ASCII.sub(_only_letters, some_left)
    return letters if is_normalized("NFC", letters) else normalize("NFC", letters)


class _Letters(dict[int, str | None]):
    """A table for `str.translate` that lowers letters and marks and deletes all other characters.

    It is filled with each new character. It takes half the time of a regular expression with
    Unicode classes (measured).
    """

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        self[code] = character.lower() if category(character)[0] in "LM" else None
        return self[code]


def _only_letters(run: re.Match[str]) -> str:
    return run[0].translate(_LETTERS)


# ASCII is translated as bytes. One regular expression removes whole ranges of punctuation, digits
# and symbols. On 19 of 20 pages only letters remain, and one lower() is enough. On the other pages
# the remaining characters are translated one by one.
_LOWER = bytes(range(256)).lower()
_ASCII_OTHERS = bytes(code for code in range(1, 128) if not chr(code).isalpha())
_COMMON_OTHERS = re.compile(
    "[\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u2070\u20a0-\u20cf\u2190-\u2bff"
    "\u3000-\u3004\u3007-\u3020\uff00-\uff20\U0001f000-\U0001faff]+"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LETTERS = _Letters()
