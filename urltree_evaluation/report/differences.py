"""Show gold and result side by side, with missing and superfluous words marked.

    gold    Rain <del>is</del> expected            result  Rain expected <ins>Share</ins>

Words are split as for the headline metric and aligned by their longest common subsequence. The
texts themselves are shown unchanged. Missing words are struck out and superfluous words are
underlined, so the marks differ even without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from markupsafe import Markup
from rapidfuzz.distance import LCSseq

from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.report.sanitizing import sanitize

COMPARED = 10_000  # words of each text that are compared; their LCS matrix takes 12.5 MB
SHOWN = 4_000  # characters of each text that are shown
CONTEXT = 150  # characters of a long correct part that are shown beside a wrong part
MARKS: Final = {"missing": Markup("<del>{}</del>"), "extra": Markup("<ins>{}</ins>")}
NOTE: Final = Markup('<span class="cut">{}</span>')
_SAME: Final = Markup('<span class="cut"> … {:,} equal characters … </span>')
_CUT: Final = Markup('<span class="cut"> … cut after {end:,} of {total:,} characters</span>')


class Sides(NamedTuple):
    """The gold and the result as HTML, each with at most `SHOWN` characters of text."""

    gold: Markup
    result: Markup


class LocatedWord(NamedTuple):
    """A word and its position in its text."""

    word: str
    start: int
    end: int


def mark_differences(gold: str, result: str, shown: int = SHOWN) -> Sides:
    """Mark the words of `gold` that `result` lacks, and the words of `result` that `gold` lacks."""
    ours, theirs = locate_words(gold)[:COMPARED], locate_words(result)[:COMPARED]
    found = LCSseq.opcodes([word.word for word in ours], [word.word for word in theirs])
    missing = [ours[i] for code in found if code.tag == "delete"
               for i in range(code.src_start, code.src_end)]  # fmt: skip
    extra = [theirs[i] for code in found if code.tag == "insert"
             for i in range(code.dest_start, code.dest_end)]  # fmt: skip
    return Sides(
        _mark_text(gold, missing, "missing", shown), _mark_text(result, extra, "extra", shown)
    )


def excerpt(text: str, shown: int = SHOWN) -> Markup:
    """Return the beginning of a text, escaped, with a note if the text is longer."""
    note = _CUT.format(end=shown, total=len(text)) if len(text) > shown else Markup("")
    return Markup.escape(sanitize(text[:shown])) + note


def locate_words(text: str) -> list[LocatedWord]:
    """Return the words of a text, as `metrics.words` splits it, with their positions."""
    found: list[LocatedWord] = []
    for kind, group in groupby(range(len(text)), key=lambda at: _kind(text[at])):
        places = list(group)
        if kind == "part":
            found.append(_word(text, places[0], places[-1] + 1))
        elif kind == "word":
            found.extend(_word(text, at, at + 1) for at in places)
    return found


def _word(text: str, start: int, end: int) -> LocatedWord:
    return LocatedWord(" ".join(split_words(text[start:end])), start, end)


@lru_cache(maxsize=8192)
def _kind(character: str) -> str:
    """Return whether a character separates words, is a word, or is a part of a word."""
    return ("space", "part", "word")[min(len(split_words(character * 2)), 2)]


def _mark_text(text: str, wrong: list[LocatedWord], mark: str, shown: int) -> Markup:
    """Return the text with its wrong words marked, and without the middle of long correct parts."""
    parts: list[Markup] = []
    left = shown
    for start, end, is_wrong in _split_stretches(text, wrong):
        if left <= 0:
            parts.append(_CUT.format(end=start, total=len(text)))
            break
        if not is_wrong and end - start > 3 * CONTEXT:
            parts += [
                Markup.escape(sanitize(text[start : start + CONTEXT])),
                _SAME.format(end - start - 2 * CONTEXT),
                Markup.escape(sanitize(text[end - CONTEXT : end])),
            ]
            left -= 2 * CONTEXT
            continue
        part = sanitize(text[start : min(end, start + left)])
        parts.append(MARKS[mark].format(part) if is_wrong else Markup.escape(part))
        if end - start > left:
            parts.append(_CUT.format(end=start + left, total=len(text)))
            break
        left -= end - start
    return Markup("").join(parts)


def _split_stretches(text: str, wrong: list[LocatedWord]) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, whether the words are wrong) for each part of the text, in order."""
    at = 0
    for start, end in _join_runs(text, wrong):
        if start > at:
            yield at, start, False
        yield start, end, True
        at = end
    if at < len(text):
        yield at, len(text), False


def _join_runs(text: str, wrong: Iterable[LocatedWord]) -> Iterator[tuple[int, int]]:
    """Yield the positions of runs of wrong words with only separators between them."""
    start = end = -1
    for word in wrong:
        if start >= 0 and all(_kind(each) == "space" for each in text[end : word.start]):
            end = word.end
            continue
        if start >= 0:
            yield start, end
        start, end = word.start, word.end
    if start >= 0:
        yield start, end
