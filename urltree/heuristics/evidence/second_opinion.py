"""The opinion of a single-page extractor, used on a site's first pages if the extractor was run.

    F1 between the extractor's words and the words that our signals keep
    0 ─────────────── .5 ──────────────── .8 ──────────── 1
      use the extractor's   keep our         drop blocks that the
      main element, text    result           extractor drops

Below .5, our signals had chosen comments or a sidebar instead of the article. The site would choose
this wrong main element on every later page, so the extractor's choice replaces it. From .8 on,
blocks that only the extractor drops are captions, share bars or boxes: dropping them too raised F1
on scrapinghub from .949 to .964. Between .5 and .8, our result was the better one (measured).

The document stores the opinion in `vouched`: one digit for each block, 1 if the extractor's text
contains the block.
"""

from __future__ import annotations

from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.evidence.features import PageFeatures
from urltree.html.elements import RUNNING
from urltree.tree.path_statistics import PathStatistics

DIFFERS = 0.5  # below this F1, the extractor's choice replaces ours
ALIKE = 0.8  # from this F1 on, blocks that the extractor drops are dropped

_VOTES = 10  # number of past documents with a main element, from which the opinion is ignored
# Least share of running text in the extractor's text; otherwise it is a menu or a list of links.
_LEAST_PROSE = 0.75


def agreement_with_kept(
    page: PageFeatures, paths: PathStatistics, kinds: bytearray
) -> float | None:
    """Return the F1 between the extractor's words and the words that our signals keep.

    Returns:
        None if no extractor was run, if its text is not mostly running text, or if enough past
        documents of the site have a main element.
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
    """Return the index of the element whose words agree best, by F1, with the extractor's words.

    If several elements agree equally, return the last of them, which is the innermost.
    """
    vouched = _vouched_words(page, page.document.vouched or "")
    vouched_in, words_in, all_vouched = page.sums(vouched), page.words_in, sum(vouched)
    return max(
        (index for index, one in enumerate(page.document.elements) if one.tag not in RUNNING),
        key=lambda index: (vouched_in(index) / (words_in(index) + all_vouched), index),
        default=None,
    )


def keep_vouched(page: PageFeatures, kinds: bytearray) -> None:
    """Set running text that the extractor keeps to content, while the site has few documents."""
    for index, is_vouched in _judged(page):
        if is_vouched and page.prose[index]:
            kinds[index] = Kind.CONTENT


def drop_others(page: PageFeatures, kinds: bytearray) -> None:
    """Drop blocks that the extractor drops, while the site has few documents."""
    for index, is_vouched in _judged(page):
        if not is_vouched:
            kinds[index] = kinds[index] or Kind.OUTSIDE_MAIN


def _vouched_words(page: PageFeatures, vouched: str) -> list[int]:
    """Return the number of words of each block; 0 for a block that the extractor drops."""
    return [words * (digit == "1") for words, digit in zip(page.words, vouched, strict=True)]


def _judged(page: PageFeatures) -> list[tuple[int, bool]]:
    """Return each block that the opinion may change, and whether the extractor keeps it.

    These are all blocks except the title block. On a site with enough documents for repetition, the
    opinion changes no block.
    """
    vouched = page.document.vouched
    if vouched is None or page.root.support >= page.parameters.repeated_from:
        return []
    return [(index, digit == "1") for index, digit in enumerate(vouched) if index != page.title]
