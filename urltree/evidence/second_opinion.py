"""A single-page extractor's opinion, where it was asked and the site has not spoken yet.

    main element by the page ──▶ what would be kept ◀── shares less than half ──▶ vouched for
                                                                                     │
                                     main element: the one that agrees best  ◀───────┘

Where the two agree by half or more ours is the better one (issue 6: on 24 of 27 pages that differ
otherwise); where they share less, ours has taken comments or a sidebar for the article, and the
main element that it would have taught the site is wrong on every later page. Nothing here counts
once the site has votes.
"""

from __future__ import annotations

from urltree.boilerplate import Kind
from urltree.elements import RUNNING
from urltree.evidence.page import Page
from urltree.path_statistics import PathStatistics

_VOTES = 10  # documents with a main element from which the site speaks for itself
_LEAST_PROSE = 0.75  # of the words vouched for: else it is a list of links, or a menu
_SHARED = 0.5  # F1 of words, below which the two differ


def main_element(page: Page, paths: PathStatistics, kinds: bytearray) -> int | None:
    """The main element by the extractor, None where ours stands."""
    vouched = page.document.vouched
    if vouched is None or sum(paths.mains.values()) >= _VOTES:
        return None
    said = [words if digit == "1" else 0 for words, digit in zip(page.words, vouched, strict=True)]
    prose = sum(words for words, digit in zip(page.prose, vouched, strict=True) if digit == "1")
    if not sum(said) or prose < _LEAST_PROSE * sum(said):
        return None
    kept = sum(words for words, kind in zip(page.words, kinds, strict=True) if not kind)
    both = sum(words for words, kind in zip(said, kinds, strict=True) if not kind)
    if 2 * both >= _SHARED * (kept + sum(said)):
        return None
    return _best(page, said)


def _best(page: Page, said: list[int]) -> int | None:
    """The element whose words agree best by F1; of several the innermost, which is the last."""
    said_in, words_in, all_said = page.sums(said), page.words_in, sum(said)
    return max(
        (index for index, one in enumerate(page.document.elements) if one.tag not in RUNNING),
        key=lambda index: (said_in(index) / (words_in(index) + all_said), index),
        default=None,
    )


def overrule(page: Page, kinds: bytearray) -> None:
    """Before repetition judges: prose is kept that is vouched for, and nothing that is not."""
    if page.root.support >= page.numbers.repeated_from:
        return
    for index, digit in enumerate(page.document.vouched or ""):
        if index == page.title:
            continue
        if digit == "0":
            kinds[index] = kinds[index] or Kind.OUTSIDE_MAIN
        elif page.prose[index]:
            kinds[index] = Kind.CONTENT
