"""A single-page extractor's opinion, where it was asked and the site has not spoken yet.

    words shared with what would be kept
    0 ─────────────── .5 ──────────────── .8 ──────────── 1
      it is believed:     ours stands         what it
      main element, text                      lacks goes

Where they share less than half, ours has taken comments or a sidebar for the article, and the main
element that it would teach the site would be wrong on every later page. Where they are nearly
alike, what one lacks is furniture: captions, share bars, a box (scrapinghub .949 → .964). Between,
each has something, and ours was the better one (issue 6).
"""

from __future__ import annotations

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.features import PageFeatures
from urltree.html.elements import RUNNING
from urltree.tree.path_statistics import PathStatistics

DIFFERS, ALIKE = 0.5, 0.8  # F1 of words: below, from

_VOTES = 10  # documents with a main element from which the site speaks for itself
_LEAST_PROSE = 0.75  # of the words vouched for: else it is a list of links, or a menu


def agreement_with_kept(
    page: PageFeatures, paths: PathStatistics, kinds: bytearray
) -> float | None:
    """F1 of the words vouched for and those that would be kept.

    Returns:
        None where nobody was asked, the answer is no running text, or the site has spoken.
    """
    vouched = page.document.vouched
    if vouched is None or sum(paths.mains.values()) >= _VOTES:
        return None
    said = _vouched_words(page, vouched)
    prose = sum(words for words, digit in zip(page.prose, vouched, strict=True) if digit == "1")
    if not sum(said) or prose < _LEAST_PROSE * sum(said):
        return None
    both = sum(words for words, kind in zip(said, kinds, strict=True) if not kind)
    return 2 * both / (page.kept(kinds) + sum(said))


def best_agreeing_element(page: PageFeatures) -> int | None:
    """The element whose words agree best by F1; of several the innermost, which is the last."""
    said = _vouched_words(page, page.document.vouched or "")
    said_in, words_in, all_said = page.sums(said), page.words_in, sum(said)
    return max(
        (index for index, one in enumerate(page.document.elements) if one.tag not in RUNNING),
        key=lambda index: (said_in(index) / (words_in(index) + all_said), index),
        default=None,
    )


def keep_vouched(page: PageFeatures, kinds: bytearray) -> None:
    """Running text that is vouched for is content, until repetition judges."""
    for index, is_vouched in _judged(page):
        if is_vouched and page.prose[index]:
            kinds[index] = Kind.CONTENT


def drop_others(page: PageFeatures, kinds: bytearray) -> None:
    """What is not vouched for is boilerplate, until repetition judges."""
    for index, is_vouched in _judged(page):
        if not is_vouched:
            kinds[index] = kinds[index] or Kind.OUTSIDE_MAIN


def _vouched_words(page: PageFeatures, vouched: str) -> list[int]:
    """Words of each block that is vouched for."""
    return [words * (digit == "1") for words, digit in zip(page.words, vouched, strict=True)]


def _judged(page: PageFeatures) -> list[tuple[int, bool]]:
    """Blocks that an opinion counts for: all but the title, on a site's first pages."""
    vouched = page.document.vouched
    if vouched is None or page.root.support >= page.parameters.repeated_from:
        return []
    return [(index, digit == "1") for index, digit in enumerate(vouched) if index != page.title]
