"""The opinion of a single-page extractor, used on a site's first pages if the extractor was asked.

    F1 of its words and the words that would be kept
    0 ─────────────── .5 ──────────────── .8 ──────────── 1
      use its main        keep ours          drop what
      element and text                       it lacks

Below .5, our choice was comments or a sidebar instead of the article. The site would learn that
wrong main element for every later page, so the extractor's choice replaces it. From .8 on, blocks
that the extractor lacks are captions, share bars or boxes: dropping them raised F1 on scrapinghub
from .949 to .964. In between, our choice was the better one (measured).

The document stores the opinion as `vouched`: one digit for each block, 1 if the extractor's text
contains it.
"""

from __future__ import annotations

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.features import PageFeatures
from urltree.html.elements import RUNNING
from urltree.tree.path_statistics import PathStatistics

DIFFERS = 0.5  # below this F1, the extractor's choice replaces ours
ALIKE = 0.8  # from this F1 on, what the extractor lacks is dropped

_VOTES = 10  # documents with a main element; with more, the opinion is ignored
_LEAST_PROSE = 0.75  # least share of running text in its text; below, it is a menu or list of links


def agreement_with_kept(
    page: PageFeatures, paths: PathStatistics, kinds: bytearray
) -> float | None:
    """Return the F1 of the extractor's words and the words that would be kept.

    Returns:
        None if no extractor was asked, if its text is not mostly running text, or if the site
        already has enough votes of its own.
    """
    vouched = page.document.vouched
    if vouched is None or sum(paths.mains.values()) >= _VOTES:
        return None
    words = _vouched_words(page, vouched)
    prose = sum(size for size, digit in zip(page.prose, vouched, strict=True) if digit == "1")
    if not sum(words) or prose < _LEAST_PROSE * sum(words):
        return None
    both = sum(size for size, kind in zip(words, kinds, strict=True) if not kind)
    return 2 * both / (page.kept(kinds) + sum(words))


def best_agreeing_element(page: PageFeatures) -> int | None:
    """Return the element whose words agree best by F1; the innermost of several."""
    vouched = _vouched_words(page, page.document.vouched or "")
    vouched_in, words_in, all_vouched = page.sums(vouched), page.words_in, sum(vouched)
    return max(
        (index for index, one in enumerate(page.document.elements) if one.tag not in RUNNING),
        key=lambda index: (vouched_in(index) / (words_in(index) + all_vouched), index),
        default=None,
    )


def keep_vouched(page: PageFeatures, kinds: bytearray) -> None:
    """Keep running text that the extractor has, while repetition does not judge yet."""
    for index, is_vouched in _judged(page):
        if is_vouched and page.prose[index]:
            kinds[index] = Kind.CONTENT


def drop_others(page: PageFeatures, kinds: bytearray) -> None:
    """Drop blocks that the extractor lacks, while repetition does not judge yet."""
    for index, is_vouched in _judged(page):
        if not is_vouched:
            kinds[index] = kinds[index] or Kind.OUTSIDE_MAIN


def _vouched_words(page: PageFeatures, vouched: str) -> list[int]:
    """Return the words of each block that the extractor has, 0 for the others."""
    return [words * (digit == "1") for words, digit in zip(page.words, vouched, strict=True)]


def _judged(page: PageFeatures) -> list[tuple[int, bool]]:
    """Return the blocks that the opinion may change: all but the title, on a site's first pages."""
    vouched = page.document.vouched
    if vouched is None or page.root.support >= page.parameters.repeated_from:
        return []
    return [(index, digit == "1") for index, digit in enumerate(vouched) if index != page.title]
